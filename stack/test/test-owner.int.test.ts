import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'chai'
import { eventually } from '../../test/support/eventually.ts'
import { signalGroup } from '../src/process-control.ts'
import { claimFolder, releaseFolder } from '../src/test-owner.ts'
import { isRunning, removeFolders, temporaryFolder } from './support.ts'

/** A test run in a process of its own: claims the folder, starts a process there and prints its group. */
const testRun = `
  const { claimFolder } = await import(process.argv[1] + '/src/test-owner.ts')
  const { startProcess } = await import(process.argv[1] + '/src/process-control.ts')
  await claimFolder(process.argv[2])
  const args = ['-e', 'setInterval(() => {}, 1000)']
  const group = startProcess(process.argv[2], { name: 'a-replica', command: process.execPath, args, env: {}, ports: {} })
  console.log(group)
  setInterval(() => {}, 1000)`

describe('a stack of a test run', () => {
  let parent: string
  const groups: number[] = []

  const startRun = async (folder: string) => {
    const child = spawn(process.execPath, [
      '--input-type=module',
      '-e',
      testRun,
      join(import.meta.dirname, '..'),
      folder,
    ])
    const [printed] = (await once(child.stdout, 'data')) as [Buffer]
    const group = Number(printed.toString())
    groups.push(group)
    return { child, group }
  }

  beforeEach(() => {
    parent = temporaryFolder()
  })
  afterEach(() => {
    for (const group of groups.splice(0)) signalGroup(group, 'SIGKILL')
    removeFolders()
  })

  it('goes when the run is interrupted', async () => {
    const { child, group } = await startRun(join(parent, 'a'))
    child.kill('SIGINT')
    await once(child, 'exit')
    expect(child.signalCode).to.equal('SIGINT')
    await eventually(() => !isRunning(group), 'its process is gone')
  })

  it('of a killed run is stopped by the next run beside it', async () => {
    const { child, group } = await startRun(join(parent, 'a'))
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(isRunning(group)).to.equal(true)
    await claimFolder(join(parent, 'b'))
    expect(isRunning(group)).to.equal(false)
    await releaseFolder(join(parent, 'b'))
  })

  it('of a live run is not touched, and its folder is refused', async () => {
    const { child, group } = await startRun(join(parent, 'a'))
    await claimFolder(join(parent, 'b'))
    await releaseFolder(join(parent, 'b'))
    const failure = await claimFolder(join(parent, 'a')).catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'busy')
    expect(isRunning(group)).to.equal(true)
    child.kill('SIGKILL')
  })
})
