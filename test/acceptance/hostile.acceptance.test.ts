import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type OutgoingRecord, publish } from './kafka.ts'
import { deadLetterAt, findOrder, orderIsPaid } from './orders.ts'
import './running-stack.ts'
import { type Position, parts, reasons, reducedEnvelope, withExtraField, withVersion } from './system.ts'

const partition = 1
const secondsToWait = 20

/**
 * Publishes the records into one partition, then an order, and later a second order. Both orders must be paid. The second order is needed
 * because a sidecar may deliver the first order in the same batch as the hostile records.
 */
async function publishAhead(...records: Omit<OutgoingRecord, 'partition'>[]): Promise<Position[]> {
  const behind = randomUUID()
  const all = [...records, { value: text(reducedEnvelope(behind)) }]
  const positions = await publish(...all.map((record) => ({ ...record, partition })))
  expect(positions.map((position) => position.partition)).to.deep.equal(positions.map(() => partition))
  await orderIsPaid(behind, secondsToWait)
  const later = randomUUID()
  await publish({ value: text(reducedEnvelope(later)), partition })
  await orderIsPaid(later, secondsToWait)
  return positions.slice(0, -1)
}

const text = (envelope: object) => JSON.stringify(envelope)

const unusable: Record<string, () => Omit<OutgoingRecord, 'partition'>> = {
  'is a tombstone': () => ({ value: null, key: randomUUID() }),
  'is not JSON': () => ({ value: 'order please' }),
  'is not UTF-8': () => ({ value: Buffer.from([0xff, 0xfe, 0x00, 0x80]) }),
  'is a JSON text that is no envelope': () => ({ value: '[1, "two", null]' }),
  'has values of wrong types': () => ({ value: text({ ...reducedEnvelope(randomUUID(), { amount: 1 }), Name: 7 }) }),
  'has a total that is text': () => ({ value: text(reducedEnvelope(randomUUID(), '10')) }),
  'has an unknown version': () => ({ value: text(withVersion(reducedEnvelope(randomUUID()), 99)) }),
  'has a binary key and is not JSON': () => ({ value: '{', key: Buffer.from([0xff, 0x00, 0xc3]) }),
}

const shapes: Record<string, () => string> = {
  'has a list of 130,000 numbers': () => `[${'1,'.repeat(129_999)}1]`,
  'has an object of 20,000 keys': () => `{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join()}}`,
  'nests 60 levels deep': () => `${'[{"y":'.repeat(30)}1${'}]'.repeat(30)}`,
  'nests 100,000 levels deep': () => '['.repeat(100_000) + ']'.repeat(100_000),
  'has a text of 250,000 characters': () => `"${'a'.repeat(250_000)}"`,
  'repeats an object 9,000 times': () => `[${Array(9_000).fill('{"Total":10,"a":"b"}').join()}]`,
}

describe('a hostile record', () => {
  for (const [what, make] of Object.entries(unusable)) {
    it(`a record that ${what} becomes a dead letter, and blocks no order behind it`, async () => {
      const [position] = await publishAhead(make())
      await deadLetterAt(position as Position, parts.orders)
    })
  }

  it('a valid order with a binary key is paid, and blocks no order behind it', async () => {
    const orderId = randomUUID()
    await publishAhead({ value: text(reducedEnvelope(orderId)), key: Buffer.from([0xff, 0x00, 0xc3, 0x28]) })
    await orderIsPaid(orderId)
  })

  for (const [shape, extra] of Object.entries(shapes)) {
    it(`a valid order that ${shape} becomes an order or a dead letter, and blocks no order behind it`, async () => {
      const orderId = randomUUID()
      const [position] = await publishAhead({ value: withExtraField(reducedEnvelope(orderId), extra()) })
      if (await findOrder(orderId)) await orderIsPaid(orderId)
      else await deadLetterAt(position as Position, parts.orders)
    })

    it(`a record that conflicts with an order and ${shape} becomes a dead letter, and blocks no order behind it`, async () => {
      const orderId = randomUUID()
      const [, position] = await publishAhead(
        { value: text(reducedEnvelope(orderId, 10)) },
        { value: withExtraField(reducedEnvelope(orderId, 11), extra()) },
      )
      await deadLetterAt(position as Position, parts.orders)
      expect((await orderIsPaid(orderId)).total).to.equal(10)
    })
  }

  it('a record that conflicts with an order becomes a dead letter that names this reason', async () => {
    const orderId = randomUUID()
    const values = [10, 11].map((total) => ({ value: text(reducedEnvelope(orderId, total)) }))
    const [, position] = await publishAhead(...values)
    const { reason } = await deadLetterAt(position as Position, parts.orders)
    expect(reason).to.equal(reasons.conflictingOrder)
  })
})
