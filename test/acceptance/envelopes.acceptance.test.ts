import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { post } from './support/http.ts'
import { requireStack } from './support/make.ts'
import { full, isPaid, orderOf, paymentsOf, reduced } from './support/orders.ts'
import { openPublisher, type Publisher } from './support/publisher.ts'
import { paths, topic, urls } from './system.ts'

describe('an order of an application outside', () => {
  let publisher: Publisher
  before(async () => {
    await requireStack()
    publisher = await openPublisher()
  })
  after(() => publisher?.close())

  it('is paid when it comes as a reduced envelope, whatever its key', async () => {
    const [own, other, none] = [reduced(), reduced(), reduced()]
    await publisher.publish(
      { key: own.Payload.OrderId, value: JSON.stringify(own) },
      { key: 'another key', value: JSON.stringify(other) },
      { value: JSON.stringify(none) },
    )
    for (const { Payload } of [own, other, none]) await isPaid(Payload.OrderId)
  })

  it('keeps the ids of a full envelope', async () => {
    const envelope = full()
    await publisher.publish({ key: envelope.Payload.OrderId, value: JSON.stringify(envelope) })
    const order = await isPaid(envelope.Payload.OrderId)
    expect(order).to.include({ correlationId: envelope.CorrelationId, traceId: envelope.TraceId })
  })

  it('is paid when it comes over HTTP', async () => {
    const envelope = reduced()
    expect((await post(urls.gateway + paths.publish(topic), envelope)).status).to.equal(202)
    await isPaid(envelope.Payload.OrderId)
    expect((await post(urls.gateway + paths.publish(topic), { ...envelope, Version: 'one' })).status).to.equal(400)
  })

  it('is one order with one payment, however often it is published', async () => {
    const envelope = full()
    const [value, again] = [JSON.stringify(envelope), JSON.stringify({ ...envelope, Id: randomUUID() })]
    await publisher.publish({ value }, { value }, { value, key: 'k' }, { value: again }, { value })
    await isPaid(envelope.Payload.OrderId)
    // Behind all of them in each partition: when these are paid, those were handled.
    const last = [0, 1, 2].map((partition) => ({ partition, envelope: reduced() }))
    await publisher.publish(...last.map(({ partition, envelope }) => ({ partition, value: JSON.stringify(envelope) })))
    for (const { envelope } of last) await isPaid(envelope.Payload.OrderId)
    expect(await paymentsOf(envelope.Payload.OrderId)).to.have.length(1)
    expect((await orderOf(envelope.Payload.OrderId)).body.total).to.equal(10)
  })
})
