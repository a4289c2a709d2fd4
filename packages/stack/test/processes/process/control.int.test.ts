import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { readProcessTable } from '../../../src/base/process-table.ts'
import { eventually } from '../../../src/base/run-tool.ts'
import {
  processState,
  recordedNames,
  signalGroup,
  stopProcess,
  stopStack,
} from '../../../src/processes/process/control.ts'
import { waitUntil } from '../../../src/processes/process/wait.ts'
import { deadPid, isRunning, removeFolders, startScript, temporaryFolder } from '../../support.ts'

const forever = 'setInterval(() => {}, 1000)'

describe('a process of the stack', () => {
  let folder: string

  /** Records a process that has ended, and had the same pid as a running one. */
  const recordEarlier = (name: string, pid: number) => {
    mkdirSync(join(folder, 'run'), { recursive: true })
    writeFileSync(join(folder, 'run', `${name}.json`), JSON.stringify({ pid, startId: 'an earlier one', startedAt: 0 }))
  }
  const state = () => processState(folder, 'kafka')
  const runningPid = () =>
    eventually(() => {
      const now = state()
      return now.state === 'running' && now.pid !== now.group ? now.pid : undefined
    }, 'the command runs beside its launcher')

  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(async () => {
    await stopProcess(folder, 'kafka', 0)
    removeFolders()
  })

  it('runs with the recorded pid and ends at SIGTERM', async () => {
    startScript(folder, 'kafka', forever)
    const pid = await runningPid()
    expect(await stopProcess(folder, 'kafka', 5_000)).to.equal(true)
    expect(isRunning(pid)).to.equal(false)
    expect(state()).to.deep.equal({ state: 'stopped' })
    expect(await stopProcess(folder, 'kafka', 5_000)).to.equal(false)
  })

  it('dies with its children if it ignores SIGTERM', async () => {
    const child = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(forever)}])`
    const group = startScript(
      folder,
      'kafka',
      `process.on('SIGTERM', () => {}); ${child}; console.log('up'); ${forever}`,
    )
    await eventually(() => readFileSync(join(folder, 'logs/kafka.log'), 'utf8').includes('up'), 'it is up')
    await stopProcess(folder, 'kafka', 100)
    const left = [...readProcessTable().values()].filter((entry) => entry.group === group)
    expect(left).to.deep.equal([])
  })

  it('gets the state `crashed` with its exit code if it ended unexpectedly', async () => {
    startScript(folder, 'kafka', 'process.exit(3)')
    await eventually(() => state().state === 'crashed', 'it ended')
    expect(state()).to.deep.equal({ state: 'crashed', exit: 'exit code 3' })
  })

  it('gets the state `crashed` with the signal if it was killed', async () => {
    startScript(folder, 'kafka', forever)
    process.kill(await runningPid(), 'SIGKILL')
    await eventually(() => state().state === 'crashed', 'it ended')
    expect(state()).to.deep.equal({ state: 'crashed', exit: 'killed by signal 9' })
  })

  it('stays a process of the stack if only its launcher was killed', async () => {
    const group = startScript(folder, 'kafka', forever)
    const pid = await runningPid()
    process.kill(group, 'SIGKILL')
    await eventually(() => !isRunning(group), 'the launcher is gone')
    expect(state()).to.include({ state: 'running', pid })
    await stopProcess(folder, 'kafka', 5_000)
    expect(isRunning(pid)).to.equal(false)
  })

  it('remains distinct from a later process that has the same pid', async () => {
    const other = startScript(folder, 'other', forever)
    recordEarlier('kafka', other)
    expect(await stopProcess(folder, 'kafka', 0)).to.equal(false)
    expect(isRunning(other)).to.equal(true)
    signalGroup(other, 'SIGKILL')
  })

  it('remains distinct from another program whose group has the same id and lost its leader', async () => {
    // The shell leads the group, and ends before its child.
    const shell = spawn('/bin/sh', ['-c', 'sleep 600 & echo $!'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [printed] = (await once(shell.stdout, 'data')) as [Buffer]
    const [leader, child] = [Number(shell.pid), Number(printed.toString())]
    await eventually(() => !isRunning(leader), 'the shell has ended')
    recordEarlier('kafka', leader)
    expect(state()).to.deep.equal({ state: 'crashed', exit: 'killed' })
    expect(await stopProcess(folder, 'kafka', 0)).to.equal(false)
    expect(isRunning(child)).to.equal(true)
    signalGroup(leader, 'SIGKILL')
  })

  it('belongs to the stack if a killed command left no record of it', async () => {
    const group = startScript(folder, 'kafka', forever)
    const pid = await runningPid()
    rmSync(join(folder, 'run'), { recursive: true })
    expect(recordedNames(folder)).to.deep.equal(['kafka'])
    expect(state()).to.deep.equal({ state: 'running', pid, group })
    expect(await stopStack(folder, () => {})).to.deep.equal(['kafka'])
    expect([group, pid].map(isRunning)).to.deep.equal([false, false])
    expect(recordedNames(folder)).to.deep.equal([])
  })

  it('belongs to the stack if only an earlier start is recorded, and its launcher was killed', async () => {
    const group = startScript(folder, 'kafka', forever)
    const pid = await runningPid()
    process.kill(group, 'SIGKILL')
    await eventually(() => !isRunning(group), 'the launcher is gone')
    recordEarlier('kafka', deadPid())
    expect(state()).to.deep.equal({ state: 'running', pid, group })
    await stopProcess(folder, 'kafka', 5_000)
    expect(isRunning(pid)).to.equal(false)
  })

  it('ends with its children if the launcher has recorded its exit before', async () => {
    const child = `require('child_process').spawn('sleep', ['600'], { stdio: 'ignore' })`
    const group = startScript(folder, 'kafka', `${child}.unref(); process.exit(0)`)
    const left = () => [...readProcessTable().values()].filter((entry) => entry.group === group)
    await eventually(() => state().state === 'crashed' && left().length === 1, 'only the child runs')
    await stopProcess(folder, 'kafka', 5_000)
    expect(left()).to.deep.equal([])
  })

  it('gets no variables from the shell that could change it, such as settings', async () => {
    const given = { PORT: '1234', Auth__Mode: 'open', OTEL_SDK_DISABLED: 'true', HTTPS_PROXY: 'http://127.0.0.1:1' }
    const before = { ...process.env }
    Object.assign(process.env, given)
    try {
      const names = JSON.stringify(Object.keys(given))
      startScript(folder, 'kafka', `console.log(${names}.filter((name) => process.env[name]).join() + '.'); ${forever}`)
    } finally {
      for (const name of Object.keys(given)) delete process.env[name]
      Object.assign(process.env, before)
    }
    const log = () => readFileSync(join(folder, 'logs/kafka.log'), 'utf8')
    expect(await eventually(() => log() || undefined, 'it has printed')).to.equal('.\n')
  })

  it('causes an error with its exit code and log if it dies while a command waits for it', async () => {
    startScript(folder, 'kafka', `console.log('first line'); console.log('last line'); process.exit(1)`)
    const watch = { folder, processes: ['kafka'], timeoutMs: 10_000 }
    const failure = await waitUntil('Kafka', watch, async () => 'not yet').catch((error: Error) => error)
    expect(failure).to.have.property('code', 'process-died')
    expect((failure as Error).message).to.match(/^kafka ended \(exit code 1\); its last lines:\nfirst line\nlast line$/)
    expect(failure).to.have.property('nextStep').that.includes('make logs SERVICE=kafka')
  })
})
