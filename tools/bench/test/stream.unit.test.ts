import { checkPayload, parseEnvelope, parseFullEnvelope } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { invalidOrders, orderEvents, plainEventBytes } from '../support/events.ts'
import { batches, distance } from '../support/stream.ts'

describe('the generator of outside events', () => {
  it('generates valid OrderCreated events, alternately full and reduced, with the OrderId as key', () => {
    const events = [...orderEvents(4)]
    for (const { key, value } of events) {
      expect(checkPayload(parseEnvelope(value))).to.have.nested.property('Payload.OrderId', key)
    }
    expect(() => parseFullEnvelope(events[0]?.value as Buffer)).not.to.throw()
    expect(() => parseFullEnvelope(events[1]?.value as Buffer)).to.throw()
    expect(new Set(events.map(({ key }) => key)).size).to.equal(4)
  })

  it('uses the given total for each index', () => {
    const totals = [...orderEvents(3, 0, (index) => index * 100)].map(
      ({ value }) => (parseEnvelope(value).Payload as { Total: number }).Total,
    )
    expect(totals).to.deep.equal([0, 100, 200])
  })

  it('generates events of the stated size, and larger events with an additional field', () => {
    const size = (filling: number) => [...orderEvents(2, filling)].reduce((sum, { value }) => sum + value.length, 0) / 2
    expect(size(0)).to.be.closeTo(plainEventBytes, 20)
    expect(size(10_000) - size(0)).to.be.closeTo(10_000, 20)
  })

  it('generates invalid events, each with another problem', () => {
    const problems = invalidOrders().map(({ value }) => {
      try {
        return checkPayload(parseEnvelope(value))
      } catch (error) {
        return (error as Error).message
      }
    })
    expect(problems.filter((problem) => typeof problem !== 'string')).to.be.empty
    expect(new Set(problems)).to.have.property('size', 7)
  })

  it('keeps batches below Kafka’s limit, even if all events of a batch go to one partition', () => {
    for (const filling of [0, 3_000, 50_000]) {
      const made = [...batches(orderEvents(1_200, filling))]
      const bytes = made.map((batch) => batch.reduce((sum, { value }) => sum + value.length, 0))
      expect(Math.max(...bytes)).to.be.at.most(192 * 1024)
      expect(made.flat()).to.have.length(1_200)
    }
  })
})

describe('distance', () => {
  it('counts the records of all partitions', () => {
    expect(distance([5n, 0n], [7n, 3n, 4n])).to.equal(9)
  })
})
