import { stripVTControlCharacters } from 'node:util'
import { expect } from 'chai'
import { record } from '../pictures/recording.ts'

describe('record', () => {
  it('returns each command and its output in order, with the time of each line', async () => {
    const lines = await record(['echo one; sleep 0.2; echo two >&2', 'echo three'], '.')
    expect(lines.map(({ text }) => stripVTControlCharacters(text))).to.deep.equal([
      '$ echo one; sleep 0.2; echo two >&2',
      'one',
      'two',
      '',
      '$ echo three',
      'three',
    ])
    const [command = 0, one = 0, two = 0, , next = 0] = lines.map(({ at }) => at)
    expect(one - command).to.be.at.least(1000)
    // Even if this process reads late, the second line comes after the pause.
    expect(two - command).to.be.at.least(1150)
    expect(two).to.be.at.least(one)
    expect(next).to.be.greaterThan(two)
  })

  it('throws if a command fails', async () => {
    const failure = await record(['echo broken; exit 3'], '.').catch(({ message }: Error) => message)
    expect(failure)
      .to.match(/^echo broken; exit 3 ended with 3:\n/)
      .and.match(/\nbroken$/)
  })
})
