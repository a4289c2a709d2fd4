import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually, poll } from '../../src/lib/poll.ts'

describe('poll', () => {
  it('calls the probe until it answers', async () => {
    let asked = 0
    expect(await poll(() => ++asked === 3 && asked, { timeoutMs: 10_000, everyMs: 0 })).to.equal(3)
  })

  it('returns undefined after the timeout', async () => {
    expect(await poll(() => undefined, { timeoutMs: 1, everyMs: 0 })).to.equal(undefined)
  })

  it('waits for the answer of a call that it made before the timeout', async () => {
    expect(await poll(() => delay(50, 'late'), { timeoutMs: 1 })).to.equal('late')
  })

  it('stops waiting for a call that hangs', async () => {
    const hung = eventually(() => new Promise<never>(() => {}), 'an answer', 10)
    expect(await hung.catch((error: Error) => error.message)).to.equal('timeout after waiting for an answer: 10 ms')
  })

  it('throws the errors of the probe', async () => {
    const broken = poll(() => Promise.reject(new Error('broken')), { timeoutMs: 10_000 })
    expect(await broken.catch((error: Error) => error.message)).to.equal('broken')
  })
})
