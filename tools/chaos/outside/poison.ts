import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { full, poison, reduced } from '../clients/envelopes.ts'
import type { Random } from '../load/random.ts'

export interface PoisonRecord {
  topic: string
  value: string | Buffer | null
}

const event = () => JSON.stringify(full())

/** Records that are invalid events, or that services reject. They must not become orders. */
const values: (string | Buffer | null)[] = [
  ...Object.values(poison).map(({ value }) => value),
  '',
  'null',
  JSON.stringify(event()),
  event().slice(0, 100),
  event().replace(/"Total":\d+/, '"Total":1e999'),
  JSON.stringify(reduced({}, { Payload: undefined })),
]

/** Records that only order-service consumes. */
const paymentValues = [
  '{',
  JSON.stringify(reduced({}, { Name: 'PaymentApproved' })),
  JSON.stringify(reduced({}, { Name: 'PaymentApproved', Version: 7 })),
]

export interface KnownOrder {
  id: string
  name: string
  total: number
}

/** Builds another order with the id of a known one. */
export function contradiction({ id, name, total }: KnownOrder): PoisonRecord {
  return { topic: orderEvents, value: JSON.stringify(full({ OrderId: id, CustomerName: name, Total: total + 1 })) }
}

export function poisonRecord(random: Random): PoisonRecord {
  return random.chance(0.15)
    ? { topic: paymentEvents, value: random.pick(paymentValues) }
    : { topic: orderEvents, value: random.pick(values) }
}
