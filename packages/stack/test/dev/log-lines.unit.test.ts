import { stripVTControlCharacters } from 'node:util'
import { expect } from 'chai'
import { readableLines } from '../../src/dev/log-lines.ts'

const readable = (record: object) => readableLines(JSON.stringify(record)).map(stripVTControlCharacters)
const time = '2026-11-21T10:00:00.123Z'
const clock = `${new Date(time).toTimeString().slice(0, 8)}.123`

describe('readableLines', () => {
  it('returns the time of this machine, the level, the message and the other fields of a record', () => {
    expect(readable({ level: 'info', time, app: 'a-service', http: 5000, list: [1], msg: 'up' })).to.deep.equal([
      `${clock} info  up http=5000 list=[1]`,
    ])
  })

  it('returns the stack of an error on lines of its own', () => {
    const err = { type: 'Error', message: 'down', stack: 'Error: down\n    at a.ts:1' }
    expect(readable({ level: 'error', time, err, msg: 'failed' })).to.deep.equal([
      `${clock} error failed`,
      'Error: down',
      '    at a.ts:1',
    ])
  })

  for (const line of ['SyntaxError: Unexpected token', '{"level":', '{"a":1}', '']) {
    it(`returns ${JSON.stringify(line)} unchanged`, () => {
      expect(readableLines(line)).to.deep.equal([line])
    })
  }
})
