import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { eventually, send } from './http.ts'
import { publish } from './kafka.ts'
import { eventsOf, orderIsPaid, paymentsOf } from './orders.ts'
import './running-stack.ts'
import { accepted, fullEnvelope, readOutcomes, reducedEnvelope, topics, urls } from './system.ts'

const newIds = () => ({ id: randomUUID(), correlationId: randomUUID(), traceId: randomUUID() })

const ways: [string, (text: string, orderId: string) => Promise<unknown>][] = [
  ['by Kafka with the order as its key', (value, key) => publish({ value, key })],
  ['by Kafka with another key', (value) => publish({ value, key: 'another key' })],
  ['by Kafka without a key', (value) => publish({ value })],
  [
    'by HTTP',
    async (body) => {
      const answer = await send(urls.publishing, { body })
      expect(answer.status, JSON.stringify(answer.body)).to.equal(202)
      expect(readOutcomes(answer.body)).to.deep.equal([accepted])
    },
  ],
]

describe('publishing from outside', () => {
  for (const [way, publishText] of ways) {
    it(`creates a paid order when a reduced envelope is published ${way}`, async () => {
      const orderId = randomUUID()
      await publishText(JSON.stringify(reducedEnvelope(orderId, 11)), orderId)
      expect((await orderIsPaid(orderId)).total).to.equal(11)
      expect(await paymentsOf(orderId)).to.have.length(1)
    })

    it(`keeps the ids when a full envelope is published ${way}`, async () => {
      const [orderId, ids] = [randomUUID(), newIds()]
      await publishText(JSON.stringify(fullEnvelope(orderId, ids, 12)), orderId)
      const order = await orderIsPaid(orderId)
      expect(order).to.include({ total: 12, correlationId: ids.correlationId })
      const events = await eventually('the monitor has order and payment', async () => {
        const found = await eventsOf(orderId)
        return found.length >= 2 ? found : undefined
      })
      const created = events.find(({ position }) => position.topic === topics.orders)
      expect(created).to.deep.include(ids)
      const payment = events.find(({ position }) => position.topic === topics.payments)
      expect(payment?.correlationId).to.equal(ids.correlationId)
    })
  }

  it('accepts the valid envelopes of an HTTP request that also contains a faulty envelope', async () => {
    const orderId = randomUUID()
    const body = [reducedEnvelope(randomUUID(), 'text'), reducedEnvelope(orderId)]
    const answer = await send(urls.publishing, { body })
    expect(answer.status).to.equal(207)
    const [first, second] = readOutcomes(answer.body)
    expect(first).not.to.equal(accepted)
    expect(second).to.equal(accepted)
    await orderIsPaid(orderId)
  })
})
