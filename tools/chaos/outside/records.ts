import { orderEvents } from '@orderflow/envelope-schema'
import type { OutsideRecord } from '@orderflow/test-kit'
import { full, reduced } from '../clients/envelopes.ts'
import type { Book } from '../ledger/book.ts'
import { poisonHeader } from '../ledger/read-log.ts'
import type { OutsideKey, PlannedOutsideOrder } from '../load/orders.ts'
import type { PoisonRecord } from './poison.ts'

/** A record to send, with functions that note its progress in the ledger. */
export interface Outgoing {
  afterMs: number
  record: OutsideRecord
  attempted(): void
  accepted(): void
}

const nothing = () => {}

/** Returns all records of an order: its event, repetitions, and perhaps its cancellation. */
export function recordsOf(order: PlannedOutsideOrder, book: Book): Outgoing[] {
  const { id, name, total, form, again, cancelAfterMs, cancelFirst } = order
  const envelope = form === 'full' ? full : reduced
  const value = JSON.stringify(envelope({ OrderId: id, CustomerName: name, Total: total }))
  const record = (text: string, key: OutsideKey) => ({ topic: orderEvents, value: text, ...keyOf(order, key) })
  const attempted = () => book.attempted({ name, source: 'outside', total, id })
  const created: Outgoing = {
    afterMs: cancelFirst && cancelAfterMs !== undefined ? cancelAfterMs : 0,
    record: record(value, order.key),
    attempted,
    accepted: () => book.accepted(name, id),
  }
  const repeated = again.map(({ afterMs, key }) => {
    return { afterMs: created.afterMs + afterMs, record: record(value, key), attempted: nothing, accepted: nothing }
  })
  if (cancelAfterMs === undefined) return [created, ...repeated]
  const cancelled: Outgoing = {
    afterMs: cancelFirst ? 0 : cancelAfterMs,
    record: record(JSON.stringify({ ...envelope({}), Name: 'OrderCancelled', Payload: { OrderId: id } }), order.key),
    attempted() {
      attempted()
      book.cancelAttempted(name)
    },
    accepted: () => book.cancelAccepted(name),
  }
  return [created, ...repeated, cancelled]
}

function keyOf({ id, name }: PlannedOutsideOrder, key: OutsideKey): { key?: string } {
  if (key === 'none') return {}
  return { key: key === 'order' ? id : name }
}

export function poisonous(name: string, { topic, value }: PoisonRecord, book: Book): Outgoing {
  return {
    afterMs: 0,
    record: { topic, value, key: name, headers: { [poisonHeader]: name } },
    attempted: () => book.poisonAttempted(name, topic),
    accepted: () => book.poisonAccepted(name),
  }
}

/** Returns a valid event that services do not handle. */
export function unheard(): Outgoing {
  const record = { topic: orderEvents, value: JSON.stringify(reduced({}, { Name: 'OrderShipped' })) }
  return { afterMs: 0, record, attempted: nothing, accepted: nothing }
}
