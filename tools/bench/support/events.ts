import { randomUUID } from 'node:crypto'
import { orderEvents as orderEventsTopic } from '@orderflow/envelope-schema'
import type { OutsideEvent, Stream } from './stream.ts'

const publisher = { AppId: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e003', AppName: 'older-application' }

/** The approximate size of an event without the additional field, in bytes. */
export const plainEventBytes = 360

/**
 * Generates OrderCreated events of outside publishers, alternately full and reduced.
 * @param filling the size of an additional field, in bytes
 * @param total returns the total of an order by its index
 */
export function* orderEvents(count: number, filling = 0, total = (_index: number) => 10): Generator<OutsideEvent> {
  const note = 'x'.repeat(filling)
  for (let index = 0; index < count; index += 1) {
    const [OrderId, trace] = [randomUUID(), randomUUID()]
    const full = { Headers: {}, Id: randomUUID(), CorrelationId: trace, TraceId: trace, ...publisher }
    const envelope = {
      ...(index % 2 === 0 ? full : publisher),
      Version: 1,
      Name: 'OrderCreated',
      CreationDate: new Date().toISOString(),
      Payload: {
        OrderId,
        CustomerName: 'Grace Hopper',
        CustomerTaxId: 'US-1',
        Total: total(index),
        ...(note && { Note: note }),
      },
    }
    yield { key: OrderId, value: Buffer.from(JSON.stringify(envelope)) }
  }
}

/** Returns OrderCreated events that break the schema, each in another way, and a text that is not JSON. */
export function invalidOrders(): OutsideEvent[] {
  const [{ key, value }] = [...orderEvents(1)] as [OutsideEvent]
  const valid = JSON.parse(value.toString())
  const wrong = [
    { TraceId: '00000000-0000-0000-0000-000000000000' },
    { CreationDate: '2026-02-30T00:00:00Z' },
    { CreationDate: undefined },
    { Payload: { ...valid.Payload, OrderId: `urn:uuid:${key}` } },
    { Payload: { ...valid.Payload, CustomerName: '\u3000' } },
    { Payload: { ...valid.Payload, Total: '10' } },
  ]
  const texts = ['not JSON', ...wrong.map((fields) => JSON.stringify({ ...valid, ...fields }))]
  return texts.map((text) => ({ key: randomUUID(), value: Buffer.from(text) }))
}

export async function publishOrders(
  stream: Stream,
  ...[count, filling, total]: Parameters<typeof orderEvents>
): Promise<string[]> {
  const orderIds: string[] = []
  await stream.publish(orderEventsTopic, recording(orderEvents(count, filling, total), orderIds))
  return orderIds
}

function* recording(events: Iterable<OutsideEvent>, keys: string[]): Generator<OutsideEvent> {
  for (const event of events) {
    keys.push(event.key)
    yield event
  }
}
