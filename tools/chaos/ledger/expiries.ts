import type { Book } from './book.ts'
import type { Check } from './checks.ts'

/** The times by which orders expire. All of them are in milliseconds; moments are since 1970. */
export interface Expiry {
  /** The time within which orders must be paid (`Orders.PaymentWithin`). */
  withinMs: number
  /** The largest delay of an expiry while nothing else fails. A killed process delays its deadlines by up to 30 s. */
  lateMs: number
  /** The end of all faults that can delay an expiry. */
  calmAt: number
  auditedAt: number
}

export const lateMs = 40_000

/**
 * Selects each order with the first and last moment at which it can have been created. The stored event of a request may reach the log later. If an
 * outside publisher repeats an event, order-service may keep the repetition.
 */
const created = `SELECT o.id, iif(a.source = 'http', a.at, min(e.at)) AS first, max(e.at) AS last
  FROM stored_order o JOIN attempt a USING (name) JOIN told e ON e.order_id = o.id AND e.name = 'OrderCreated'
  WHERE o.view = :view GROUP BY o.id`

/** Selects each expired order with the delay of its expiry. Faults explain the delay until they end. */
const late = `SELECT c.id, min(e.at) - max(c.last + :withinMs, :calmAt) AS ms, min(e.at) > :calmAt AS isCalm
  FROM (${created}) c JOIN told e ON e.order_id = c.id AND e.name = 'OrderExpired' GROUP BY c.id`

/** The checks compare the times at which the broker appended records. The broker and the clients of this test use one clock. */
export const expiryChecks: Check[] = [
  {
    kind: 'wrong',
    what: 'an order whose expiry or reminder was early',
    sql: `SELECT DISTINCT c.id FROM (${created}) c JOIN told e ON e.order_id = c.id
      WHERE (e.name = 'OrderExpired' AND e.at < c.first + :withinMs)
      OR (e.name = 'OrderReminded' AND e.at < c.first + :withinMs / 2)`,
  },
  {
    kind: 'stuck',
    what: 'an order that was open too long after its deadline',
    sql: `SELECT c.id FROM (${created}) c WHERE max(c.last + :withinMs, :calmAt) + :lateMs < coalesce((
      SELECT min(at) FROM told e WHERE e.order_id = c.id
      AND e.name IN ('OrderExpired', 'OrderCancelled', 'PaymentApproved', 'PaymentRejected')), :auditedAt)`,
  },
]

export interface ExpiryCounts {
  expired: number
  /** The number of orders that expired after all faults. */
  calm: number
  /** The largest delay of these expiries, in milliseconds. */
  mostLateMs: number
}

export function countExpiries(book: Book, expiry: Expiry): ExpiryCounts {
  const sql = `SELECT count(*) AS expired, coalesce(sum(isCalm), 0) AS calm,
    max(0, coalesce(max(iif(isCalm, ms, NULL)), 0)) AS mostLateMs FROM (${late})`
  return book.query<ExpiryCounts>(sql, { view: 'store', ...expiry })[0] as ExpiryCounts
}
