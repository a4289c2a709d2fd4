import { expect } from 'chai'
import { keptRecord } from '../../../src/operations/dead-letters/effects.ts'
import { entriesOf } from '../../../src/operations/dead-letters/entries.ts'
import { readRecord } from '../../../src/stream/dead-letters/dead-letter-record.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { bytesOf, event, fail } from './records.ts'

describe('keptRecord', () => {
  const log = new FakeLog()
  const values = [1, 2].map((Total) => bytesOf({ ...event, Payload: { ...event.Payload, Total } }))
  const attempts: { attempt: ReturnType<typeof entriesOf>[number]['attempts'][number]; rejectedBy: string[] }[] = []
  before(async () => {
    const rejecting = ['payment-service', 'order-service']
    for (const [offset, value] of values.entries()) {
      const app = rejecting[offset] as string
      const deadLetter = await log.at(fail(log, app, offset, 'invalid-amount', { value }))
      const read = deadLetter && readRecord(deadLetter)
      const [entry] = read?.kind === 'dead-letter' ? entriesOf([read]) : []
      if (entry?.attempts[0]) attempts.push({ attempt: entry.attempts[0], rejectedBy: [app] })
    }
  })
  const kept = async (service: string) => (await keptRecord(log, attempts, service))?.value

  it('returns the first attempt that the service has not rejected', async () => {
    const [first, second] = values.map((value) => value.toString('base64'))
    expect(await kept('order-service')).to.equal(first)
    expect(await kept('stock-service')).to.equal(first)
    expect(await kept('payment-service')).to.equal(second)
  })

  it('returns nothing if the service has rejected each attempt', async () => {
    const all = attempts.map(({ attempt }) => ({ attempt, rejectedBy: ['order-service'] }))
    expect(await keptRecord(log, all, 'order-service')).to.equal(undefined)
  })
})
