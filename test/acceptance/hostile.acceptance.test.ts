import { expect } from 'chai'
import { eventually } from './support/http.ts'
import { requireStack, succeed } from './support/make.ts'
import { isPaid, orderOf, reduced } from './support/orders.ts'
import { type Outgoing, openPublisher, type Publisher } from './support/publisher.ts'
import { printed, reasons, services, targets } from './system.ts'

/** Extra fields that no schema names: valid, and below the size that the topic takes. */
const shapes: Record<string, unknown> = {
  'a list of 130,000 numbers': Array(130_000).fill(1),
  'an object of 20,000 keys': Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1])),
  'a text of 200,000 characters': 'x'.repeat(200_000),
  '60 levels': Array.from({ length: 60 }).reduce((inner) => [inner], 1),
  '20,000 equal words': 'word '.repeat(20_000),
}

describe('a hostile record', () => {
  let publisher: Publisher
  before(async () => {
    await requireStack()
    publisher = await openPublisher()
  })
  after(() => publisher?.close())

  /** Publishes a record and, behind it in the same partition, an order that must be paid soon. Returns the record's position. */
  async function holdsNothingUp(record: Outgoing): Promise<string> {
    const healthy = reduced()
    const [position = ''] = await publisher.publish(
      { ...record, partition: 0 },
      { partition: 0, value: JSON.stringify(healthy) },
    )
    await isPaid(healthy.Payload.OrderId, 15_000)
    return position
  }
  /** Waits until a command lists the record among the dead letters of a reason and service. */
  const isDead = (position: string, reason: string, service: string) =>
    eventually(`the dead letter of ${position}`, async () => {
      const output = await succeed(targets.deadLettersOf(`${reason}/${service}`))
      return printed.deadLetterAt(position).test(output) || undefined
    })

  const bad: Record<string, [record: Outgoing, reason: string]> = {
    'text that is no JSON': [{ value: '{' }, reasons.notJson],
    'a tombstone': [{ value: null }, reasons.envelope],
    'a binary key': [{ key: Buffer.from([0xff, 0xfe, 0]), value: '[' }, reasons.notJson],
    'a total that is a text': [
      { value: JSON.stringify({ ...reduced(), Payload: { ...reduced().Payload, Total: 'ten' } }) },
      reasons.payload,
    ],
    'an unknown version': [{ value: JSON.stringify({ ...reduced(), Version: 99 }) }, reasons.version],
  }
  for (const [what, [record, reason]] of Object.entries(bad)) {
    it(`that is ${what} becomes a dead letter of each service, and what is behind it is handled`, async () => {
      const position = await holdsNothingUp(record)
      for (const service of Object.values(services)) await isDead(position, reason, service)
    })
  }

  for (const [what, extra] of Object.entries(shapes)) {
    it(`that is valid and has ${what} is an order like any other`, async () => {
      const envelope = { ...reduced(), x: extra }
      await holdsNothingUp({ value: JSON.stringify(envelope) })
      await isPaid(envelope.Payload.OrderId)
    })

    it(`that contradicts an order and has ${what} becomes a dead letter, and what is behind it is handled`, async () => {
      const envelope = reduced(10)
      await holdsNothingUp({ value: JSON.stringify(envelope) })
      await isPaid(envelope.Payload.OrderId)
      const other = { ...reduced(11, envelope.Payload.OrderId), x: extra }
      const position = await holdsNothingUp({ value: JSON.stringify(other) })
      await isDead(position, reasons.conflict, services.orders)
      expect((await orderOf(envelope.Payload.OrderId)).body.total).to.equal(10)
    })
  }
})
