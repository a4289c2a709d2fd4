import { expect } from 'chai'
import { createEnvelope } from '../src/index.ts'
import { runCommand } from '../src/validate.ts'
import { app, orderCreated, reduced } from './support/documents.ts'

const full = createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate: new Date(0) })
const unreadable = Object.assign(new Error('EISDIR: illegal operation on a directory'), { code: 'EISDIR' })

describe('validate', () => {
  /** Runs the command where these documents stand in files. */
  function run(args: string[], documents: Record<string, unknown> = {}) {
    const output: string[] = []
    const usage: string[] = []
    const code = runCommand(args, {
      read(file) {
        if (file in documents) return Buffer.from(JSON.stringify(documents[file]))
        throw unreadable
      },
      print: (line) => output.push(line),
      printUsage: (text) => usage.push(text),
    })
    return { code, output: output.join('\n'), usage: usage.join('\n') }
  }

  it('says ok for a full envelope', () => {
    const output = 'full: ok OrderCreated 1 (full)'
    expect(run(['validate', 'full'], { full })).to.deep.equal({ code: 0, output, usage: '' })
  })

  it('refuses a reduced envelope, naming each problem in a line of its own, and goes on with the next file', () => {
    const missing = '  /Id is missing\n  /CorrelationId is missing\n  /TraceId is missing'
    const output = `reduced: not-an-envelope\n${missing}\nfull: ok OrderCreated 1 (full)`
    const result = run(['validate', 'reduced', 'full'], { reduced: reduced(), full })
    expect(result).to.deep.equal({ code: 1, output, usage: '' })
  })

  it('accepts by the rules of a receiver a reduced envelope, and one with an event of somebody else', () => {
    const documents = { reduced: reduced(), foreign: reduced({ Name: 'ParcelSent' }) }
    const output = [
      'reduced: ok OrderCreated 1 (received)',
      'foreign: ok (received; not a known event, so the Payload was not checked)',
    ].join('\n')
    expect(run(['validate', '--received', 'reduced', 'foreign'], documents)).to.deep.equal({
      code: 0,
      output,
      usage: '',
    })
  })

  it('refuses an unknown event of a publisher, and a near miss of a known one by any rules', () => {
    const near = reduced({ Name: 'orderCreated' })
    const output = 'near: unknown-event\n  /Name is not a known event (write OrderCreated)'
    expect(run(['validate', '--received', 'near'], { near })).to.deep.equal({ code: 1, output, usage: '' })
    const foreign = { ...full, Name: 'ParcelSent' }
    expect(run(['validate', 'foreign'], { foreign })).to.include({ code: 1 })
    expect(run(['validate', 'foreign'], { foreign }).output).to.match(/^foreign: unknown-event\n/)
  })

  it('refuses by the rules of a receiver a known event with a wrong Payload', () => {
    const wrong = reduced({ Payload: {} })
    expect(run(['validate', '--received', 'wrong'], { wrong }).output).to.match(/^wrong: invalid-payload\n/)
  })

  it('names the problems of envelope and Payload together', () => {
    const { CreationDate: _, ...wrong } = reduced({ Payload: { ...orderCreated, Total: -1 } })
    const output = 'wrong: not-an-envelope\n  /CreationDate is missing\n  /Payload/Total must be at least 0'
    expect(run(['validate', '--received', 'wrong'], { wrong })).to.deep.equal({ code: 1, output, usage: '' })
  })

  it('names a file that it cannot read', () => {
    const output = 'nowhere: cannot be read (EISDIR)'
    expect(run(['validate', 'nowhere'])).to.deep.equal({ code: 1, output, usage: '' })
  })

  it('explains itself on wrong usage', () => {
    for (const args of [[], ['validate'], ['check', 'full'], ['validate', '--lax', 'full']]) {
      const { code, output, usage } = run(args, { full })
      expect({ code, output }).to.deep.equal({ code: 2, output: '' })
      expect(usage).to.match(/^Usage: .* validate \[--received\] FILE\.\.\.\n/)
    }
  })
})
