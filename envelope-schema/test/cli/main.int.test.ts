import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { createEnvelope } from '../../src/index.ts'
import { app, orderCreated } from '../support/documents.ts'

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const full = createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate: new Date(0) })

describe('the command envelope', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'envelope cli '))
    writeFileSync(join(folder, 'full'), JSON.stringify(full, null, 2))
  })
  after(() => rmSync(folder, { recursive: true }))

  const run = (args: string[], input: string | Uint8Array = '') => {
    const options = { cwd: folder, input, encoding: 'utf8', maxBuffer: 2 ** 26 } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], options)
    return { status, stdout, stderr }
  }

  it('validates a file and standard input', () => {
    const stderr = 'full: 1 valid (1 full), 0 invalid\n-: 1 valid (1 full), 0 invalid\n'
    expect(run(['validate', 'full', '-'], JSON.stringify(full))).to.deep.equal({ status: 0, stdout: '', stderr })
    expect(run(['validate', '-'], 'null').status).to.equal(1)
    expect(run(['validate', 'nowhere'])).to.deep.equal({
      status: 2,
      stdout: '',
      stderr: 'nowhere: cannot be read (ENOENT)\n',
    })
  })

  it('explains itself, and each of its commands', () => {
    const { status, stdout } = run(['--help'])
    expect(status).to.equal(0)
    const names = [...stdout.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name)
    expect(names).to.deep.equal(['validate', 'new', 'publish', 'tail', 'compat'])
    for (const name of names) {
      const { status, stdout, stderr } = run([name, '--help'])
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
      expect(stdout).to.match(new RegExp(`^Usage: envelope ${name} `))
    }
  })

  it('says what was meant on wrong usage', () => {
    const said = (...args: string[]) => {
      const { status, stdout, stderr } = run(args)
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' })
      return stderr
    }
    expect(said()).to.match(/^envelope: which command\? validate, new, /)
    expect(said('valdate')).to.match(/^envelope: there is no command valdate \(did you mean validate\?\)/)
    expect(said('constructor')).to.match(/^envelope: there is no command constructor; /)
    expect(said('validate', '--lax', 'full')).to.equal('envelope: there is no option --lax\n')
    expect(said('publish', '--brokers', 'a:1', '--topic', 't', '--pasword-file', 'x', 'full')).to.match(
      /--password-file\?/,
    )
    expect(said('publish', '--password', 'x', 'full')).to.equal(
      'envelope: a password is no option, for others see it: use --password-file\n',
    )
  })

  it('makes what it takes as valid', () => {
    const env = ['--app-id', app.id, '--app-name', app.name]
    const { stdout } = run(['new', 'OrderCreated', ...env, '--data', '-'], JSON.stringify(orderCreated))
    expect(run(['validate', '--mode', 'publisher', '-'], stdout)).to.include({ status: 0, stdout: '' })
  })

  it('ends well when nobody reads on', async () => {
    const child = spawn(process.execPath, [cli, 'validate', '-'], { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.on('error', () => {})
    child.stdin.end('{"a":1}\n'.repeat(100_000))
    child.stdout.once('data', () => child.stdout.destroy())
    let error = ''
    child.stderr.on('data', (data) => {
      error += data
    })
    await new Promise((resolve) => child.once('close', resolve))
    expect(error).to.equal('')
  })

  it('reads any length of input in a small heap, and one list of all that is wrong', async () => {
    const line = `${JSON.stringify({ ...full, Version: 2 })}\n`
    const child = spawn(process.execPath, ['--max-old-space-size=32', cli, 'validate', '--json', '-'])
    const count = 100_000
    let [written, read, end] = [0, 0, '']
    child.stdout.on('data', (data: Buffer) => {
      read += data.toString().split('"source"').length - 1
      end = `${end}${data}`.slice(-4)
    })
    const feed = () => {
      while (written < count) {
        written += 100
        if (!child.stdin.write(line.repeat(100))) return void child.stdin.once('drain', feed)
      }
      child.stdin.end()
    }
    feed()
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect({ code, end }).to.deep.equal({ code: 1, end: '}\n]\n' })
    // A name that is cut by two chunks is not counted.
    expect(read)
      .to.be.greaterThan(count * 0.99)
      .and.to.be.at.most(count)
  })
})
