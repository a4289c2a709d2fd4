import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Random } from '../random.ts'
import { orderCreated } from './envelopes.ts'

export interface PoisonRecord {
  topic: string
  value: string | Buffer | null
}

const deep = '['.repeat(20_000) + ']'.repeat(20_000)
const created = (name: string) => orderCreated({ id: crypto.randomUUID(), name, total: 1, form: 'full' })
const changed = (name: string, changes: object) => JSON.stringify({ ...created(name), ...changes })
const withPayload = (name: string, changes: object) => {
  const envelope = created(name)
  return JSON.stringify({ ...envelope, Payload: { ...envelope.Payload, ...changes } })
}

/** Ways in which a record is no event, or one that can never be handled. None of them may become an order. */
const kinds: Record<string, (name: string) => string | Buffer | null> = {
  'not UTF-8': () => Buffer.from([0x7b, 0xff, 0xfe]),
  'not JSON': () => '{"Name": OrderCreated}',
  'half an event': (name) => JSON.stringify(created(name)).slice(0, 100),
  empty: () => '',
  tombstone: () => null,
  null: () => 'null',
  list: () => '[1,2]',
  CloudEvent: () => '{"specversion":"1.0","type":"OrderCreated","data":{}}',
  'text of an event': (name) => JSON.stringify(JSON.stringify(created(name))),
  'wrong name of the date': (name) => changed(name, { CreationDate: undefined, CreateDate: '2026-11-21T09:30:00Z' }),
  'date without offset': (name) => changed(name, { CreationDate: '2026-11-21T09:30:00' }),
  'no GUID': (name) => changed(name, { AppId: 'older-application' }),
  'unknown version': (name) => changed(name, { Version: 9 }),
  'no payload': (name) => changed(name, { Payload: undefined }),
  'total as text': (name) => withPayload(name, { Total: '10' }),
  'negative total': (name) => withPayload(name, { Total: -1 }),
  'total beyond a double': (name) => JSON.stringify(created(name)).replace(/"Total":\d+/, '"Total":1e999'),
  'no customer': (name) => withPayload(name, { CustomerName: undefined }),
  'empty tax id': (name) => withPayload(name, { CustomerTaxId: '' }),
  'nested too deep': (name) => withPayload(name, { Note: 'DEEP' }).replace('"DEEP"', deep),
}

/** Records that only order-service gets to see. */
const paymentKinds: Record<string, (name: string) => string | Buffer | null> = {
  'not JSON': () => '{',
  'payment without an amount': (name) =>
    changed(name, { Name: 'PaymentApproved', Payload: { OrderId: crypto.randomUUID() } }),
  'payment of an unknown version': (name) => changed(name, { Name: 'PaymentApproved', Version: 7 }),
}

export interface KnownOrder {
  id: string
  name: string
  total: number
}

/** Another order under the id of one that is known. */
export function contradiction({ id, name, total }: KnownOrder): PoisonRecord {
  return { topic: orderEvents, value: JSON.stringify(orderCreated({ id, name, total: total + 1, form: 'full' })) }
}

/** A record to be refused, of any kind. */
export function poisonRecord(random: Random, name: string): PoisonRecord {
  const [topic, list] = random.chance(0.15) ? [paymentEvents, paymentKinds] : [orderEvents, kinds]
  return { topic, value: random.pick(Object.values(list))(name) }
}
