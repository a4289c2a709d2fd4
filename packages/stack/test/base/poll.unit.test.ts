import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually, poll } from '../../src/base/run-tool.ts'

describe('poll', () => {
  it('calls the probe until it answers', async () => {
    let asked = 0
    expect(await poll(() => ++asked === 3 && asked, { timeoutMs: 10_000, everyMs: 0 })).to.equal(3)
  })

  it('returns undefined after the timeout', async () => {
    expect(await poll(() => undefined, { timeoutMs: 1, everyMs: 0 })).to.equal(undefined)
  })

  it('calls the probe a last time at the deadline, if a pause would be longer', async () => {
    const begun = Date.now()
    let asked = 0
    expect(await poll(() => ++asked > 1 && 'there', { timeoutMs: 100, everyMs: 60_000 })).to.equal('there')
    expect(await poll(() => undefined, { timeoutMs: 100, everyMs: 60_000 })).to.equal(undefined)
    expect(Date.now() - begun).to.be.below(30_000)
  })

  it('ends during a pause if the signal aborts', async () => {
    const abort = new AbortController()
    const polled = poll(() => undefined, { timeoutMs: 60_000, everyMs: 60_000, signal: abort.signal })
    setTimeout(() => abort.abort(), 10)
    expect(await polled.catch((error: { code?: string }) => error.code)).to.equal('interrupted')
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
