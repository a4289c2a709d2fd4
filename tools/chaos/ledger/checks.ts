export type Kind = 'lost' | 'duplicated' | 'stuck' | 'wrong'

/** A query that returns the ids or names of all errors of one kind. */
export interface Check {
  kind: Kind
  what: string
  /** `:view` is a source of stored documents, and `:approveUpTo` the policy’s limit. */
  sql: string
}

const lost: Omit<Check, 'kind'>[] = [
  {
    what: 'an accepted order that is not stored',
    sql: `SELECT id FROM attempt a WHERE accepted
      AND NOT EXISTS (SELECT 1 FROM stored_order o WHERE o.view = :view AND o.id = a.id)`,
  },
  {
    what: 'an accepted order that is not in the log',
    sql: `SELECT id FROM attempt a WHERE accepted
      AND NOT EXISTS (SELECT 1 FROM told e WHERE e.order_id = a.id AND e.name = 'OrderCreated')`,
  },
  {
    what: 'an order in the log that is not stored',
    sql: `SELECT DISTINCT order_id AS id FROM told e WHERE name = 'OrderCreated'
      AND NOT EXISTS (SELECT 1 FROM stored_order o WHERE o.view = :view AND o.id = e.order_id)`,
  },
  {
    what: 'a payment that was never announced',
    sql: `SELECT order_id AS id FROM stored_payment p WHERE view = :view AND NOT EXISTS (
      SELECT 1 FROM told e WHERE e.order_id = p.order_id AND e.name IN ('PaymentApproved', 'PaymentRejected'))`,
  },
  {
    what: 'an accepted cancellation that is not in the log',
    sql: `SELECT id FROM attempt a WHERE cancel = 2
      AND NOT EXISTS (SELECT 1 FROM told e WHERE e.order_id = a.id AND e.name = 'OrderCancelled')`,
  },
  {
    what: 'an accepted poison record that is not in the log',
    sql: `SELECT name AS id FROM poison p WHERE accepted
      AND NOT EXISTS (SELECT 1 FROM event e WHERE e.poison = p.name)`,
  },
  {
    what: 'a poison record without a dead letter of an app',
    sql: `SELECT DISTINCT poison AS id FROM event e JOIN consumer c USING (topic) WHERE poison IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM dead_letter l
        WHERE l.topic = e.topic AND l.part = e.part AND l.offset = e.offset AND l.app = c.app)`,
  },
]

/** Counts the effects of events, because the log may repeat the events themselves. */
const duplicated: Omit<Check, 'kind'>[] = [
  {
    what: 'an order that is listed several times',
    sql: 'SELECT id FROM stored_order WHERE view = :view GROUP BY id HAVING count(*) > 1',
  },
  {
    what: 'several orders of one request',
    sql: 'SELECT name AS id FROM stored_order WHERE view = :view GROUP BY name HAVING count(DISTINCT id) > 1',
  },
  {
    what: 'several payments of one order',
    sql: 'SELECT order_id AS id FROM stored_payment WHERE view = :view GROUP BY order_id HAVING count(*) > 1',
  },
  {
    what: 'several announced results of one payment',
    sql: `SELECT order_id AS id FROM told WHERE name IN ('PaymentApproved', 'PaymentRejected')
      GROUP BY order_id HAVING count(DISTINCT digest) > 1`,
  },
  {
    what: 'several announced refunds of one payment',
    sql: `SELECT order_id AS id FROM told WHERE name = 'PaymentRefunded'
      GROUP BY order_id HAVING count(DISTINCT digest) > 1`,
  },
  {
    what: 'several announced reminders, expiries or cancellations of one order',
    sql: `SELECT DISTINCT order_id AS id FROM told e WHERE name IN ('OrderReminded', 'OrderExpired', 'OrderCancelled')
      AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.id = e.order_id AND a.cancel AND e.name = 'OrderCancelled')
      GROUP BY order_id, name HAVING count(DISTINCT digest) > 1`,
  },
  {
    what: 'several dead letters of one record and app',
    sql: `SELECT topic || ' ' || part || ':' || offset AS id FROM dead_letter
      GROUP BY topic, part, offset, app HAVING count(DISTINCT id) > 1`,
  },
]

/** Selects each order with its payment, and whether the log contains a cancellation of the order. */
const settled = `SELECT o.id, o.status AS order_status, p.status AS payment_status, o.total, EXISTS (
    SELECT 1 FROM told e WHERE e.order_id = o.id AND e.name = 'OrderCancelled') AS cancelled
  FROM stored_order o JOIN stored_payment p ON p.view = o.view AND p.order_id = o.id WHERE o.view = :view`

const stuck: Omit<Check, 'kind'>[] = [
  {
    what: 'an order without a payment',
    sql: `SELECT id FROM stored_order o WHERE view = :view
      AND NOT EXISTS (SELECT 1 FROM stored_payment p WHERE p.view = o.view AND p.order_id = o.id)`,
  },
  {
    what: 'an order without a due refund',
    sql: `SELECT id FROM (${settled}) WHERE cancelled AND payment_status = 'Approved'`,
  },
  {
    what: 'an order whose status contradicts its payment (docs/orders.md)',
    sql: `SELECT id FROM (${settled}) WHERE order_status <> CASE payment_status
      WHEN 'Refunded' THEN 'Refunded'
      WHEN 'Approved' THEN iif(cancelled, 'Cancelled', 'Paid')
      ELSE iif(cancelled, 'Cancelled', 'PaymentRejected') END`,
  },
  {
    what: 'a client that was refused until the end',
    sql: 'SELECT name AS id FROM attempt WHERE gave_up',
  },
]

const wrong: Omit<Check, 'kind'>[] = [
  {
    what: 'an answer or exit that no fault explains',
    sql: 'SELECT what AS id FROM surprise',
  },
  {
    what: 'an invalid record that is not poison',
    sql: "SELECT topic || ' ' || part || ':' || offset AS id FROM told WHERE name IS NULL",
  },
  {
    what: 'an order that was never placed',
    sql: 'SELECT id FROM stored_order o WHERE view = :view AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.name = o.name)',
  },
  {
    what: 'an order whose id or total differs from the placed one',
    sql: `SELECT o.id FROM stored_order o JOIN attempt a USING (name)
      WHERE view = :view AND (a.id <> o.id OR a.total <> o.total)`,
  },
  {
    what: 'an amount that differs from the total',
    sql: `SELECT o.id FROM stored_order o JOIN stored_payment p ON p.view = o.view AND p.order_id = o.id
      WHERE o.view = :view AND (p.amount <> o.total OR o.charged <> o.total)`,
  },
  {
    what: 'an event whose amount differs from the total',
    sql: 'SELECT DISTINCT a.id FROM attempt a JOIN told e ON e.order_id = a.id WHERE e.amount <> a.total',
  },
  {
    what: 'a payment without an order',
    sql: `SELECT order_id AS id FROM stored_payment p WHERE view = :view
      AND NOT EXISTS (SELECT 1 FROM stored_order o WHERE o.view = p.view AND o.id = p.order_id)`,
  },
  {
    what: 'a payment that contradicts the policy',
    sql: `SELECT id FROM (${settled}) WHERE (payment_status <> 'Rejected' AND total > :approveUpTo)
      OR (payment_status = 'Rejected' AND total <= :approveUpTo AND NOT cancelled)
      OR (payment_status = 'Refunded' AND NOT cancelled)`,
  },
  {
    what: 'a cancellation that was never requested',
    sql: `SELECT DISTINCT a.id FROM attempt a JOIN told e ON e.order_id = a.id
      WHERE e.name = 'OrderCancelled' AND a.cancel = 0
      AND NOT EXISTS (SELECT 1 FROM told x WHERE x.order_id = a.id AND x.name = 'OrderExpired')`,
  },
  {
    what: 'a paid order that time has cancelled',
    sql: `SELECT id FROM (${settled}) s WHERE payment_status <> 'Rejected' AND cancelled
      AND NOT EXISTS (SELECT 1 FROM attempt a WHERE a.id = s.id AND a.cancel)`,
  },
  {
    what: 'a dead letter of a valid record',
    sql: `SELECT DISTINCT l.topic || ' ' || l.part || ':' || l.offset AS id FROM dead_letter l
      WHERE NOT EXISTS (SELECT 1 FROM event e
        WHERE e.topic = l.topic AND e.part = l.part AND e.offset = l.offset AND e.poison IS NOT NULL)`,
  },
]

const of = (kind: Kind, checks: Omit<Check, 'kind'>[]): Check[] => checks.map((check) => ({ kind, ...check }))

export const checks: Check[] = [
  ...of('lost', lost),
  ...of('duplicated', duplicated),
  ...of('stuck', stuck),
  ...of('wrong', wrong),
]

/** A document is not listed if it is missing on all pages of the API. */
const unlisted: Omit<Check, 'kind'>[] = [
  ['an order', 'stored_order', 'id'],
  ['a payment', 'stored_payment', 'order_id'],
].map(([thing, table, key]) => ({
  what: `${thing} that is stored but not listed`,
  sql: `SELECT ${key} AS id FROM ${table} s WHERE view = 'store'
    AND NOT EXISTS (SELECT 1 FROM ${table} a WHERE a.view = 'api' AND a.${key} = s.${key})`,
}))

const different: Omit<Check, 'kind'>[] = ['stored_order', 'stored_payment'].map((table) => {
  const columns = table === 'stored_order' ? 'id, name, total, status, charged' : 'order_id, id, amount, status'
  const of = (view: string) => `SELECT ${columns} FROM ${table} WHERE view = '${view}'`
  const key = table === 'stored_order' ? 'id' : 'order_id'
  return {
    what: `${table === 'stored_order' ? 'an order' : 'a payment'} that differs between services and stores`,
    sql: `SELECT DISTINCT ${key} AS id FROM (
      SELECT * FROM (${of('api')} EXCEPT ${of('store')}) UNION ALL SELECT * FROM (${of('store')} EXCEPT ${of('api')}))`,
  }
})

export const differences: Check[] = [...of('lost', unlisted), ...of('wrong', different)]
