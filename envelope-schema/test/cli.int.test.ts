import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { createEnvelope } from '../src/index.ts'
import { app, orderCreated } from './support/documents.ts'

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const creationDate = new Date(0)
const full = createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate })

describe('envelope CLI', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'envelope-cli-'))
    writeFileSync(join(folder, 'full'), JSON.stringify(full))
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

  it('names a file that it cannot read', () => {
    const { status, stdout } = run(['validate', 'nowhere'])
    expect({ status, stdout }).to.deep.equal({ status: 1, stdout: 'nowhere: cannot be read (ENOENT)\n' })
  })

  it('explains itself on wrong usage', () => {
    const { status, stdout, stderr } = run(['validate', '--lax', 'full'])
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' })
    expect(stderr).to.match(/^Usage: /)
  })
})
