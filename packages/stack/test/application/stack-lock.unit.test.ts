import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { withStackLock } from '../../src/application/stack-record.ts'

describe('withStackLock', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'stack-lock-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const steps: string[] = []
  const hold = (name: string, work: () => Promise<unknown> = () => delay(20)) =>
    withStackLock(
      folder,
      () => {},
      async () => {
        steps.push(`${name} begins`)
        await work()
        steps.push(`${name} ends`)
      },
    )
  beforeEach(() => steps.splice(0))

  it('lets the work of a holder take the lock again, while others wait', async () => {
    await Promise.all([hold('restore', () => hold('start')), hold('up')])
    expect(steps).to.deep.equal([
      ...['restore begins', 'start begins', 'start ends', 'restore ends'],
      ...['up begins', 'up ends'],
    ])
  })

  it('makes work wait that continues after the release', async () => {
    let later: Promise<unknown> = Promise.resolve()
    await hold('start', async () => {
      later = delay(10).then(() => hold('watcher'))
    })
    await Promise.all([hold('up'), later])
    expect(steps.slice(-4)).to.deep.equal(['up begins', 'up ends', 'watcher begins', 'watcher ends'])
  })
})
