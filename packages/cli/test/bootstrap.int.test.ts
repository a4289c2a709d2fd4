import { type ChildProcess, execFile } from 'node:child_process'
import { on } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { repository, versions } from '@orderflow/stack/base'
import { hashes } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { removeFolders, temporaryFolder } from './support.ts'

const run = promisify(execFile)
const systemTools = [
  'bash',
  'cat',
  'cmp',
  'dirname',
  'env',
  'gzip',
  'ln',
  'mkdir',
  'mv',
  'rm',
  'sed',
  'sh',
  'sleep',
  'tar',
  'uname',
]

/** A fake npm. When the test allows it, this npm packs a link to our Node. */
const fakeNpm = `#!/bin/sh
for package; do :; done
echo "$package" >> "$NPM_CALLS"
until [ -e "$HOME/goes-on" ]; do sleep 0.05; done
mkdir -p package/bin
ln -s "${process.execPath}" package/bin/node
tar -czf node.tgz package
rm -r package
`

/** A fake outdated Node. For every file, it reports the hash that the test sets. */
const oldNode = `#!/bin/sh
[ "$1" = -p ] || exit 1
echo "\${HASH#sha512-}"
`
/** Larger than the largest pid of every system. */
const deadPid = 2 ** 23

const { arch } = process
const hash = hashes[`node-linux-${arch}@${versions.node}`]

describe('packages/cli/node', () => {
  let folder: string
  let bin: string

  const startWith = (HASH: string | undefined, ...args: string[]) => {
    const env = {
      HASH,
      PATH: bin,
      HOME: folder,
      ORDERFLOW_CACHE: join(folder, 'cache'),
      NPM_CALLS: join(folder, 'calls'),
    }
    return run(join(repository, 'packages/cli/node'), args, { env })
  }
  const start = (...args: string[]) => startWith(hash, ...args)
  const script = (name: string, content: string) => {
    writeFileSync(join(bin, name), content)
    chmodSync(join(bin, name), 0o755)
  }

  const letNpmGoOn = () => writeFileSync(join(folder, 'goes-on'), '')
  /** Waits until the output shows that the process waits for another process. */
  async function untilItWaits({ stderr }: ChildProcess): Promise<void> {
    for await (const [said] of on(stderr as Readable, 'data')) if (/waiting for process \d+/.test(String(said))) return
  }

  beforeEach(() => {
    folder = temporaryFolder()
    bin = join(folder, 'bin')
    mkdirSync(bin)
    for (const tool of systemTools) {
      const found = (process.env.PATH ?? '').split(delimiter).find((path) => existsSync(join(path, tool)))
      symlinkSync(join(found ?? '/bin', tool), join(bin, tool))
    }
  })
  afterEach(removeFolders)

  it('uses the machine’s Node if it is new enough, and passes arguments to it unchanged', async () => {
    symlinkSync(process.execPath, join(bin, 'node'))
    const { stdout } = await start('-p', 'process.argv[1]', 'with a space')
    expect(stdout).to.equal('with a space\n')
    expect(existsSync(join(folder, 'cache'))).to.equal(false)
  })

  it('ignores its own folder in PATH', async () => {
    symlinkSync(process.execPath, join(bin, 'node'))
    const own = join(repository, 'packages/cli')
    const env = { PATH: [own, bin].join(delimiter), HOME: folder, ORDERFLOW_CACHE: join(folder, 'cache') }
    const { stdout } = await run(join(own, 'node'), ['-p', '6*7'], { env, timeout: 20_000 })
    expect(stdout).to.equal('42\n')
  })

  it('installs the pinned Node once for two simultaneous calls if the machine’s Node is too old', async () => {
    script('node', oldNode)
    script('npm', fakeNpm)
    const starts = [start('-p', '6*7'), start('-p', '6*7')]
    await Promise.race(starts.map(({ child }) => untilItWaits(child)))
    letNpmGoOn()
    const results = await Promise.all(starts)
    expect(results.map(({ stdout }) => stdout)).to.deep.equal(['42\n', '42\n'])
    await start('-p', '1')
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    expect(calls).to.have.length(1)
    expect(calls[0]).to.match(new RegExp(`^node-linux-(x64|arm64)@${versions.node}$`))
  })

  it('ignores the lock of a killed call, even if another program has its pid', async () => {
    script('node', oldNode)
    script('npm', fakeNpm)
    letNpmGoOn()
    const lock = join(folder, 'cache', `node-${versions.node}.lock`)
    mkdirSync(dirname(lock))
    for (const left of [`${process.pid}\n`, `${process.pid}\nan earlier start\n`, `${deadPid}\n1\n`, '']) {
      rmSync(join(folder, 'cache', `node-${versions.node}`), { recursive: true, force: true })
      writeFileSync(lock, left)
      const starts = [start('-p', '6*7'), start('-p', '6*7')]
      const results = await Promise.all(starts)
      expect(results.map(({ stdout }) => stdout)).to.deep.equal(['42\n', '42\n'])
      expect(readdirSync(dirname(lock))).to.deep.equal([`node-${versions.node}`])
    }
    expect(readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')).to.have.length(4)
  })

  it('refuses to run a Node whose hash differs from the pinned one', async () => {
    script('node', oldNode)
    script('npm', fakeNpm)
    letNpmGoOn()
    const failure = await startWith('sha512-other', '-v').catch((error: { stderr: string }) => error)
    const message = `error: the hash of node-linux-${arch}@${versions.node} is sha512-other, but ${join(repository, 'packages/stack')}/hashes.json has ${hash}\n`
    expect(failure).to.have.property('stderr').that.includes(message)
    expect(existsSync(join(folder, 'cache', `node-${versions.node}`))).to.equal(false)
  })

  it('reports how to install npm if it is missing', async () => {
    const failure = await start('-v').catch((error: { stderr: string }) => error)
    expect(failure)
      .to.have.property('stderr')
      .that.matches(/^error: needs Node\.js 18 or newer with npm: not found; install/)
  })

  it('installs all packages of its root, whatever npm’s settings and the folders above are', async () => {
    const root = join(folder, 'apps/shop')
    const write = (path: string, content: string | object) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
    }
    write('package.json', { name: 'company', workspaces: ['apps/*'] })
    write('.npmrc', 'workspaces=false\n')
    write('apps/shop/services.json', {})
    write('apps/shop/package.json', {
      name: 'shop',
      workspaces: ['*-service', 'mocha'],
      devDependencies: { mocha: '1.0.0' },
    })
    write('apps/shop/mocha/package.json', { name: 'mocha', version: '1.0.0', bin: 'mocha.js' })
    write('apps/shop/mocha/mocha.js', '')
    write('apps/shop/toy-service/package.json', { name: 'toy-service', version: '1.0.0' })
    for (const file of ['cli/node', 'stack/versions.json', 'stack/hashes.json']) {
      mkdirSync(dirname(join(root, 'packages', file)), { recursive: true })
      copyFileSync(join(repository, 'packages', file), join(root, 'packages', file))
    }
    const env = { PATH: process.env.PATH, HOME: folder, npm_config_offline: 'true' }
    await run('npm', ['install', '--package-lock-only', `--prefix=${root}`, '--workspaces=null'], { cwd: root, env })
    await run(join(root, 'packages/cli/node'), ['-v'], { env })
    expect(readdirSync(join(root, 'node_modules'))).to.include.members(['mocha', 'toy-service'])
    expect(readdirSync(folder)).not.to.include('node_modules')

    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    lock.packages['node_modules/lost'] = { resolved: 'lost', link: true }
    write('apps/shop/package-lock.json', lock)
    const npm = `#!/bin/sh\nmkdir -p node_modules/.bin && : >node_modules/.bin/mocha\n`
    rmSync(join(root, 'node_modules/.installed-lock.json'))
    rmSync(join(root, 'node_modules/.package-lock.json'))
    script('npm', npm)
    symlinkSync(process.execPath, join(bin, 'node'))
    const incomplete = await run(join(root, 'packages/cli/node'), ['-v'], { env: { PATH: bin, HOME: folder } }).catch(
      (error: { stderr: string }) => error,
    )
    expect(incomplete).to.have.property('stderr').that.contains('npm ci left out node_modules/lost: find the setting')
    expect(existsSync(join(root, 'node_modules/.installed-lock.json'))).to.equal(false)
  })
})
