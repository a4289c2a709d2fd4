import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { eventually } from '../../src/base/run-tool.ts'
import { logFile, processNamesWith } from '../../src/processes/plan.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

const [first = '', second = ''] = processNamesWith({ store: 'sqlite', brokers: 1 })
const script = `
import { showLogs } from ${JSON.stringify(join(repository, 'packages/stack/src/processes/logs.ts'))}
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
process.stdout.on('error', () => {})
const [folder, follow, ...names] = process.argv.slice(1)
await showLogs(folder, names, { follow: follow === 'follow', signal: interrupted.signal })
`

describe('showLogs', () => {
  let folder: string
  let child: ChildProcessWithoutNullStreams
  let printed: string

  beforeEach(() => {
    folder = temporaryFolder()
    mkdirSync(join(folder, 'logs'))
  })
  afterEach(() => {
    child.kill('SIGKILL')
    removeFolders()
  })

  const write = (name: string, text: string) => writeFileSync(logFile(folder, name), text)
  const lines = () => printed.split('\n').filter(Boolean)
  function show(how: 'end' | 'follow', names: string[], env: NodeJS.ProcessEnv = {}): void {
    const args = ['--input-type=module', '-e', script, folder, how, ...names]
    child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...env } })
    printed = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
  }
  const line = (name: string, text: string) => `${name.padEnd(Math.max(first.length, second.length))} | ${text}`

  it('prints the last 40 lines of each process, with its name before each line', async () => {
    write(first, Array.from({ length: 50 }, (_, index) => `${index}\n`).join(''))
    write(second, 'one\ntwo')
    show('end', [first, second])
    expect(await once(child, 'close')).to.deep.equal([0, null])
    const last40 = Array.from({ length: 40 }, (_, index) => line(first, String(index + 10)))
    expect(lines()).to.deep.equal([...last40, line(second, 'one'), line(second, 'two')])
  })

  it('reports a log that does not exist yet', async () => {
    show('end', [first])
    await once(child, 'close')
    expect(printed).to.equal(`${first} | (no log yet)\n`)
  })

  it('colours the name of each process on a terminal', async () => {
    write(first, 'one\n')
    write(second, 'two\n')
    show('end', [first, second], { FORCE_COLOR: '1' })
    await once(child, 'close')
    const parts = lines().map((text) => text.split('|'))
    expect(parts.map(([, text]) => text)).to.deep.equal(['\u001b[39m one', '\u001b[39m two'])
    const colours = parts.map(([name = '']) => name.slice(0, name.indexOf('m') + 1))
    expect(colours.every((colour) => colour.startsWith('\u001b['))).to.equal(true)
    expect(new Set(colours).size).to.equal(2)
  })

  it('follows a file until Ctrl-C, even if the file is created only later, or removed and created again', async () => {
    write(first, 'one\n')
    show('follow', [first, second])
    await eventually(() => lines().includes(line(first, 'one')), 'the end')
    write(second, 'two\n')
    await eventually(() => lines().includes(line(second, 'two')), 'a new file')
    appendFileSync(logFile(folder, first), 'three\n')
    await eventually(() => lines().includes(line(first, 'three')), 'what is added')
    rmSync(logFile(folder, first))
    write(first, 'four\n')
    await eventually(() => lines().includes(line(first, 'four')), 'a file made again')
    child.kill('SIGINT')
    expect(await once(child, 'close')).to.deep.equal([0, null])
  })

  it('ends when its output is closed', async () => {
    write(first, 'one\n')
    show('follow', [first, second])
    await eventually(() => lines().includes(line(first, 'one')), 'the end')
    child.stdout.destroy()
    const ended = once(child, 'close')
    appendFileSync(logFile(folder, first), 'two\n')
    expect(await ended).to.deep.equal([0, null])
  })
})
