import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { self, withLock } from '../../src/base/lock.ts'
import { deadPid, removeFolders, temporaryFolder } from '../support.ts'

describe('withLock', () => {
  const options = { timeoutMs: 5_000, onWait: () => {} }
  let file: string

  beforeEach(() => {
    file = join(temporaryFolder(), 'lock')
  })
  afterEach(removeFolders)

  it('holds the lock during the work, and removes it even if the work fails', async () => {
    await withLock(file, options, async () => expect(existsSync(file)).to.equal(true))
    expect(existsSync(file)).to.equal(false)
    const failure = await withLock(file, options, () => Promise.reject(new Error('no'))).catch((error: Error) => error)
    expect(failure).to.have.property('message', 'no')
    expect(existsSync(file)).to.equal(false)
  })

  it('admits one process at a time, and names the owner to waiting processes', async () => {
    let inside = 0
    let most = 0
    const waits: number[] = []
    const work = async () => {
      inside += 1
      most = Math.max(most, inside)
      await sleep(50)
      inside -= 1
    }
    const one = () => withLock(file, { timeoutMs: 5_000, onWait: (pid) => waits.push(pid) }, work)
    await Promise.all([one(), one(), one()])
    expect(most).to.equal(1)
    expect(waits).to.deep.equal([process.pid, process.pid])
  })

  it('breaks the lock of a dead owner', async () => {
    writeFileSync(file, JSON.stringify({ pid: deadPid(), startId: 'x' }))
    expect(await withLock(file, options, async () => 'in')).to.equal('in')
  })

  it('breaks the lock if another process has the owner’s pid', async () => {
    writeFileSync(file, JSON.stringify({ pid: process.pid, startId: 'an earlier process' }))
    expect(await withLock(file, options, async () => 'in')).to.equal('in')
  })

  it('breaks a lock without a readable owner', async () => {
    for (const content of ['', '1', '{}']) {
      writeFileSync(file, content)
      expect(await withLock(file, options, async () => 'in'), content).to.equal('in')
    }
  })

  it('ends the wait after the timeout', async () => {
    writeFileSync(file, JSON.stringify(self()))
    const failure = await withLock(file, { ...options, timeoutMs: 10 }, async () => {}).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(CliError)
    expect(failure).to.have.property('code', 'busy')
    expect(existsSync(file)).to.equal(true)
  })
})
