import { expect } from 'chai'
import { createKeptDeadlines } from '../../src/runtime/readiness/kept-deadlines.ts'

const dayMs = 24 * 60 * 60 * 1_000

describe('the check of topics against open deadlines', () => {
  let [now, openUntil, retention] = [0 as number | undefined, undefined as number | undefined, {}]
  let failure: Error | undefined
  const kept = () =>
    createKeptDeadlines({
      time: () => now,
      openUntil: () => openUntil,
      async read() {
        if (failure) throw failure
        return new Map(Object.entries(retention))
      },
    })
  const warningsNow = async (check = kept()) => {
    await check.check()
    return check.warnings()
  }
  beforeEach(() => {
    now = Date.parse('2026-01-01T00:00:00Z')
    openUntil = now + 39.5 * dayMs
    retention = { orderevents: 30 * dayMs, paymentevents: -1 }
    failure = undefined
  })

  it('warns if Kafka deletes events of a topic before the last deadline, and names the command that corrects it', async () => {
    expect(await warningsNow()).to.deep.equal([
      'topic orderevents keeps events for 30 days, but has a deadline in 40 days, which a rebuild would lose. Fix: ./orderflow retention --days 40',
    ])
  })

  it('names the topic with the shortest retention', async () => {
    retention = { orderevents: 30 * dayMs, paymentevents: 60_000 }
    expect(await warningsNow()).to.satisfy(([line, ...others]: string[]) => {
      expect(line).to.match(/^topic paymentevents keeps events for 0\.000694 days/)
      return others.length === 0
    })
  })

  it('accepts a retention that is longer, or without a limit', async () => {
    retention = { orderevents: 39.5 * dayMs, paymentevents: -1 }
    expect(await warningsNow()).to.deep.equal([])
  })

  it('accepts any retention if no deadline is open', async () => {
    const check = kept()
    expect(await warningsNow(check)).to.have.length(1)
    openUntil = undefined
    failure = new Error('asked')
    expect(await warningsNow(check)).to.deep.equal([])
  })

  it('keeps its result while Kafka does not answer, or the time is unknown', async () => {
    const check = kept()
    expect(await warningsNow(check)).to.have.length(1)
    failure = new Error('no answer')
    expect(await check.check().catch((error: unknown) => error)).to.equal(failure)
    expect(check.warnings()).to.have.length(1)
    now = undefined
    expect(await warningsNow(check)).to.have.length(1)
  })

  it('names the missing right', async () => {
    failure = Object.assign(new Error('denied'), { apiId: 'TOPIC_AUTHORIZATION_FAILED' })
    expect((await warningsNow())[0]).to.match(
      /^Kafka does not let this service read the retention .* \.\/orderflow acls/,
    )
  })
})
