import { type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { createEnvelope } from '../../src/index.ts'
import { app, orderCreated } from '../support/documents.ts'

const cli = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const ownContract = new URL('../../../test-kit/src/mocha/own-contract.ts', import.meta.url).href
const launcher = fileURLToPath(new URL('../../src/cli/envelope.js', import.meta.url))
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** Returns each Node version in PATH that is too old for the sources. */
function olderNodes(): { program: string; version: string }[] {
  const programs = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  const found = programs.map((program) => ({
    program,
    version: spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '',
  }))
  const old = found.filter(({ version }) => Number(/^v(\d+)/.exec(version)?.[1]) < 24)
  return [...new Map(old.map((node) => [node.version, node])).values()]
}

const full = createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate: new Date(0) })

describe('the envelope command', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'envelope cli '))
    writeFileSync(join(folder, 'full'), JSON.stringify(full, null, 2))
  })
  after(() => rmSync(folder, { recursive: true }))

  const run = (args: string[], input: string | Uint8Array = '') => {
    const options = { cwd: folder, input, encoding: 'utf8', maxBuffer: 2 ** 26 } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', ownContract, cli, ...args], options)
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

  it('prints help for the command and for each subcommand', () => {
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

  it('suggests the closest name after a typing mistake', () => {
    const said = (...args: string[]) => {
      const { status, stdout, stderr } = run(args)
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' })
      return stderr
    }
    expect(said()).to.match(/^envelope: no command: use one of validate, new, /)
    expect(said('valdate')).to.match(/^envelope: unknown command valdate \(did you mean validate\?\)/)
    expect(said('constructor')).to.match(/^envelope: unknown command constructor; /)
    expect(said('validate', '--lax', 'full')).to.equal('envelope: unknown option --lax\n')
    expect(said('publish', '--brokers', 'a:1', '--topic', 't', '--pasword-file', 'x', 'full')).to.match(
      /--password-file\?/,
    )
    expect(said('publish', '--password', 'x', 'full')).to.equal(
      'envelope: --password is not supported, because other users of this machine could read it: use --password-file\n',
    )
  })

  it('creates a valid envelope', () => {
    const env = ['--app-id', app.id, '--app-name', app.name]
    const { stdout } = run(['new', 'OrderCreated', ...env, '--data', '-'], JSON.stringify(orderCreated))
    expect(run(['validate', '--mode', 'publisher', '-'], stdout)).to.include({ status: 0, stdout: '' })
  })

  it('prints its version', () => {
    for (const option of ['--version', '-v', 'version'])
      expect(run([option]), option).to.deep.equal({ status: 0, stdout: `envelope ${version}\n`, stderr: '' })
  })

  it('exits with code 3 when its output cannot be written', () => {
    const full = openSync('/dev/full', 'w')
    const runInto = (stdio: StdioOptions, ...args: string[]) =>
      spawnSync(process.execPath, [cli, ...args], { cwd: folder, input: 'null', encoding: 'utf8', stdio })
    try {
      for (const args of [
        ['--help'],
        ['--version'],
        ['validate', '--help'],
        ['validate', '-'],
        ['validate', '--json', '-'],
      ]) {
        const { status, stderr } = runInto(['pipe', full, 'pipe'], ...args)
        expect({ status, stderr: stderr.split('\n').at(-2) }, args.join(' ')).to.deep.equal({
          status: 3,
          stderr: 'envelope: the output cannot be written: ENOSPC: no space left on device, write',
        })
      }
      expect(runInto(['pipe', 'pipe', full], 'validate', '-').status, 'standard error').to.equal(3)
      expect(runInto(['pipe', 'pipe', full], 'valdate').status, 'a usage error').to.equal(3)
    } finally {
      closeSync(full)
    }
  })

  for (const node of olderNodes()) {
    it(`names the required Node version when ${node.version} runs it in this repository`, () => {
      const { status, stdout, stderr } = spawnSync(node.program, [launcher, '--help'], { encoding: 'utf8' })
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' })
      expect(stderr).to.equal(
        `envelope: needs Node 24.6 or newer in this repository, and this is ${node.version}: use ./orderflow envelope ..., which brings its own Node\n`,
      )
    })
  }

  it('starts through its launcher for npx', () => {
    const { status, stdout } = spawnSync(process.execPath, [launcher, '--version'], { encoding: 'utf8' })
    expect({ status, stdout }).to.deep.equal({ status: 0, stdout: `envelope ${version}\n` })
  })

  it('exits with code 0 when the reader closes the pipe early', async () => {
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

  it('validates a large input in a small heap, and prints one list of all problems', async () => {
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
    // A name that is split across two chunks is not counted.
    expect(read)
      .to.be.greaterThan(count * 0.99)
      .and.to.be.at.most(count)
  })
})
