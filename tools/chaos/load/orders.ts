import { deterministicId } from '@orderflow/envelope-schema'
import { createRandom } from './random.ts'

/** An order and its later actions, with times in milliseconds. */
export interface PlannedOrder {
  name: string
  total: number
  cancelAfterMs: number | undefined
}

/** An order of an outside publisher, which chooses the id. */
export interface PlannedOutsideOrder extends PlannedOrder {
  id: string
  form: 'full' | 'reduced'
  key: OutsideKey
  again: { afterMs: number; key: OutsideKey }[]
  /** True if the cancellation is published before the order. */
  cancelFirst: boolean
}

/** The key of a record. A different key may lead to a different partition. Even the same key may, because Dapr and other clients hash differently. */
export type OutsideKey = 'order' | 'customer' | 'none'

/** Policy.ApproveUpTo of payment-service/appsettings.json. */
export const approveUpTo = 10_000

/** Returns the nth order of the HTTP clients. It depends only on the seed and n. */
export function httpOrder(seed: string, index: number): PlannedOrder {
  const random = createRandom(seed, 'http', index)
  const isLarge = random.chance(0.03)
  const total = isLarge ? approveUpTo + random.between(1, 9_999) : random.between(1, approveUpTo * 100) / 100
  // The payment of a large order is rejected. Such an order cannot be cancelled.
  const isCancelled = !isLarge && random.chance(0.02)
  return { name: `http ${index}`, total, cancelAfterMs: isCancelled ? random.between(0, 5_000) : undefined }
}

export function outsideOrder(seed: string, index: number): PlannedOutsideOrder {
  const random = createRandom(seed, 'outside', index)
  const isLarge = random.chance(0.03)
  const key = () => random.pick<OutsideKey>(['order', 'order', 'order', 'customer', 'none'])
  return {
    name: `outside ${index}`,
    id: deterministicId('chaos', seed, String(index)),
    total: isLarge ? approveUpTo + random.between(1, 9_999) : random.between(1, approveUpTo * 100) / 100,
    form: random.pick(['full', 'reduced']),
    key: key(),
    again: random.chance(0.1) ? [{ afterMs: random.pick([0, 0, random.between(0, 20_000)]), key: key() }] : [],
    cancelAfterMs: random.chance(0.02) ? random.between(0, 5_000) : undefined,
    cancelFirst: random.chance(0.25),
  }
}
