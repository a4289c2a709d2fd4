import type { Book } from '../ledger/book.ts'

export interface Counts {
  orders: { source: string; attempted: number; accepted: number; inLog: number; stored: number; paid: number }[]
  cancellations: { asked: number; accepted: number; refunded: number }
  /** Records and distinct orders by event name. */
  events: { name: string; records: number; orders: number }[]
  /** `records` includes repeated writes of the same dead letter. */
  deadLetters: { app: string; topic: string; reason: string; records: number; ids: number }[]
  poison: { attempted: number; inLog: number }
}

export function countAll(book: Book): Counts {
  const one = <Row>(sql: string) => book.query<Row>(sql)[0] as Row
  return {
    orders: book.query(`SELECT source, count(*) AS attempted, sum(accepted) AS accepted,
        sum(EXISTS (SELECT 1 FROM told e WHERE e.order_id = o.id AND e.name = 'OrderCreated')) AS inLog,
        count(o.id) AS stored, sum(o.status = 'Paid') AS paid
      FROM attempt a LEFT JOIN stored_order o ON o.view = 'api' AND o.name = a.name GROUP BY source`),
    cancellations: one(`SELECT sum(cancel > 0) AS asked, sum(cancel = 2) AS accepted,
        (SELECT count(*) FROM stored_payment WHERE view = 'api' AND status = 'Refunded') AS refunded FROM attempt`),
    events: book.query(`SELECT name, count(*) AS records, count(DISTINCT order_id) AS orders
      FROM told GROUP BY name ORDER BY min(topic), name`),
    deadLetters: book.query(`SELECT app, topic, reason, count(*) AS records, count(DISTINCT id) AS ids
      FROM dead_letter GROUP BY app, topic, reason ORDER BY topic, app, reason`),
    poison: one(`SELECT (SELECT count(*) FROM poison) AS attempted,
        (SELECT count(*) FROM event WHERE poison IS NOT NULL) AS inLog`),
  }
}
