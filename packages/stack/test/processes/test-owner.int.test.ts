import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { eventually } from '../../src/base/run-tool.ts'
import { signalGroup } from '../../src/processes/process/control.ts'
import { claimFolder, releaseFolder } from '../../src/processes/test-owner.ts'
import { isRunning, removeFolders, temporaryFolder } from '../support.ts'

/** A test run in its own process. It claims the folder, starts two processes there and prints their process groups. */
const testRun = `
  const { claimFolder } = await import(process.argv[1] + '/test-owner.ts')
  const { startProcess } = await import(process.argv[1] + '/process/control.ts')
  await claimFolder(process.argv[2])
  const args = ['-e', 'setInterval(() => {}, 1000)']
  const start = (name) => startProcess(process.argv[2], { name, command: process.execPath, args, env: {}, ports: {} })
  console.log(start('kafka') + ' ' + start('a-program-beside-the-stack'))
  setInterval(() => {}, 1000)`

describe('the stack of a test run', () => {
  let parent: string
  const groups: number[] = []

  const startRun = async (folder: string) => {
    const child = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      testRun,
      join(repository, 'packages/stack/src/processes'),
      folder,
    ])
    const [printed] = (await once(child.stdout, 'data')) as [Buffer]
    const started = printed.toString().split(' ').map(Number)
    groups.push(...started)
    return { child, started }
  }

  beforeEach(() => {
    parent = temporaryFolder()
  })
  afterEach(() => {
    for (const group of groups.splice(0)) signalGroup(group, 'SIGKILL')
    removeFolders()
  })

  it('ends when the run is interrupted', async () => {
    const { child, started } = await startRun(join(parent, 'a'))
    child.kill('SIGINT')
    await once(child, 'exit')
    expect(child.signalCode).to.equal('SIGINT')
    await eventually(() => !started.some(isRunning), 'its processes are gone')
  })

  it('stops at the next run if its own run was killed', async () => {
    const { child, started } = await startRun(join(parent, 'a'))
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(started.map(isRunning)).to.deep.equal([true, true])
    await claimFolder(join(parent, 'b'))
    expect(started.map(isRunning)).to.deep.equal([false, false])
    await releaseFolder(join(parent, 'b'))
  })

  it('stops at the next run if its owner is unreadable, for example after a failure of the machine', async () => {
    const { child, started } = await startRun(join(parent, 'a'))
    child.kill('SIGKILL')
    await once(child, 'exit')
    writeFileSync(join(parent, 'a/run/owner.json'), '')
    await claimFolder(join(parent, 'a'))
    expect(started.map(isRunning)).to.deep.equal([false, false])
    await releaseFolder(join(parent, 'a'))
  })

  it('stays unchanged while its run lives, and no other run can claim its folder', async () => {
    const { child, started } = await startRun(join(parent, 'a'))
    await claimFolder(join(parent, 'b'))
    await releaseFolder(join(parent, 'b'))
    const failure = await claimFolder(join(parent, 'a')).catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'busy')
    expect(started.map(isRunning)).to.deep.equal([true, true])
    child.kill('SIGKILL')
  })
})
