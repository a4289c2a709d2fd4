import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually, poll } from '../../src/lib/poll.ts'

describe('poll', () => {
  it('asks until there is an answer', async () => {
    let asked = 0
    expect(await poll(() => ++asked === 3 && asked, { timeoutMs: 10_000, everyMs: 0 })).to.equal(3)
  })

  it('answers undefined when the time is over', async () => {
    expect(await poll(() => undefined, { timeoutMs: 1, everyMs: 0 })).to.equal(undefined)
  })

  it('waits for the answer to a question that was asked in time', async () => {
    expect(await poll(() => delay(50, 'late'), { timeoutMs: 1 })).to.equal('late')
  })

  it('does not wait for ever for one that hangs', async () => {
    const hung = eventually(() => new Promise<never>(() => {}), 'an answer', 10)
    expect(await hung.catch((error: Error) => error.message)).to.equal('an answer: not within 10 ms')
  })

  it('throws what the question throws', async () => {
    const broken = poll(() => Promise.reject(new Error('broken')), { timeoutMs: 10_000 })
    expect(await broken.catch((error: Error) => error.message)).to.equal('broken')
  })
})
