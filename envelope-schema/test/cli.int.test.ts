import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { createEnvelope } from '../src/index.ts'
import { app, orderCreated, reduced } from './support/documents.ts'

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const creationDate = new Date(0)
const full = createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate })

describe('envelope CLI', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'envelope-cli-'))
    const files = { full, reduced: reduced(), foreign: reduced({ Name: 'ParcelSent' }) }
    for (const [name, document] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(document))
  })
  after(() => rmSync(folder, { recursive: true }))

  const run = (args: string[], input = '') => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
      cwd: folder,
      input,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  it('says ok for a full envelope, from a file or standard input', () => {
    const stdout = 'full: ok OrderCreated 1 (full)\n-: ok OrderCreated 1 (full)\n'
    expect(run(['validate', 'full', '-'], JSON.stringify(full))).to.deep.equal({ status: 0, stdout, stderr: '' })
  })

  it('lists every problem of a reduced envelope, and goes on with the next file', () => {
    const { status, stdout } = run(['validate', 'reduced', 'full'])
    expect(status).to.equal(1)
    const missing = ['Id', 'CorrelationId', 'TraceId'].map((field) => `  /${field} is missing`)
    expect(stdout.trimEnd().split('\n')).to.deep.equal([
      'reduced: not-an-envelope',
      ...missing,
      'full: ok OrderCreated 1 (full)',
    ])
  })

  it('accepts a reduced envelope and an unknown event by the rules of a receiver', () => {
    const { status, stdout } = run(['validate', '--received', 'reduced', 'foreign'])
    expect(stdout).to.include('reduced: ok OrderCreated 1 (received)\nforeign: ok (received; not a known event')
    expect(status).to.equal(0)
  })

  it('refuses a near miss of a known event by the rules of a receiver, too', () => {
    const { status, stdout } = run(['validate', '--received', '-'], JSON.stringify(reduced({ Name: 'orderCreated' })))
    expect(stdout).to.equal('-: unknown-event\n  /Name is not a known event (write OrderCreated)\n')
    expect(status).to.equal(1)
  })

  it('refuses an unknown event from a publisher', () => {
    const { status, stdout } = run(['validate', '-'], JSON.stringify({ ...full, Name: 'ParcelSent' }))
    expect(stdout).to.match(/^-: unknown-event\n {2}\/Name is not a known event \(known events: OrderCancelled, /)
    expect(status).to.equal(1)
  })

  it('names a file that it cannot read', () => {
    const { status, stdout } = run(['validate', 'nowhere'])
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: 'nowhere: cannot be read (ENOENT)\n' })
  })

  it('explains itself on wrong usage', () => {
    for (const args of [[], ['validate'], ['check', 'full'], ['validate', '--lax', 'full']]) {
      const { status, stderr } = run(args)
      expect(status).to.equal(2)
      expect(stderr).to.match(/^Usage: /)
    }
  })
})
