import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { tables } from './tables.ts'

/** An order that a client tried to place. */
export interface Attempt {
  /** The unique name of the customer, which identifies a stored order. */
  name: string
  source: 'http' | 'outside'
  total: number
  /** The id of an HTTP order becomes known with the answer. */
  id?: string
  /** The time of the first attempt, in milliseconds since 1970; now by default. */
  at?: number
}

/** The fields of a record in the log that the ledger needs. */
export interface LoggedEvent {
  topic: string
  partition: number
  offset: bigint
  name?: string
  eventId?: string
  orderId?: string
  amount?: number
  digest: string
  poison?: string
  /** The time at which the broker appended the record, in milliseconds since 1970. */
  at: number
}

export interface DeadLetter {
  id: string
  app: string
  /** The position of the rejected record. */
  topic: string
  partition: number
  offset: bigint
  reason: string
}

/** The source of stored documents: the API, or the stores. */
export type View = 'api' | 'store'

export interface StoredOrder {
  id: string
  name: string
  total: number
  status: string
  /** The amount that was charged or would have been charged, as order-service reports it. */
  charged: number | undefined
}

export interface StoredPayment {
  id: string
  orderId: string
  amount: number
  status: string
}

/** With SQLite’s default cache of 2 MB, writing a million orders takes ten times as long. */
const cacheKiB = 128 * 1024

export type Book = ReturnType<typeof openBook>

/**
 * Opens the ledger: a database of attempts, records and stored documents.
 * @param consumers the applications that must handle each topic
 * @param file a new database file, by default in memory
 */
export function openBook(consumers: Record<string, string[]>, file = ':memory:') {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -${cacheKiB}; ${tables}`)
  const writer = (sql: string) => {
    const statement = db.prepare(sql)
    return (...values: (SQLInputValue | undefined)[]) => {
      // biome-ignore lint/plugin/no-spread-arguments: a row has a dozen columns
      statement.run(...values.map((value) => value ?? null))
    }
  }
  const addConsumer = writer('INSERT INTO consumer VALUES (?, ?)')
  for (const [topic, apps] of Object.entries(consumers)) for (const app of apps) addConsumer(topic, app)

  const addAttempt = writer('INSERT OR IGNORE INTO attempt (name, source, total, id, at) VALUES (?, ?, ?, ?, ?)')
  const addEvent = writer('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const addDeadLetter = writer('INSERT INTO dead_letter VALUES (?, ?, ?, ?, ?, ?)')
  const addOrder = writer('INSERT INTO stored_order VALUES (?, ?, ?, ?, ?, ?)')
  const addPayment = writer('INSERT INTO stored_payment VALUES (?, ?, ?, ?, ?)')
  return {
    attempted: ({ name, source, total, id, at = Date.now() }: Attempt) => addAttempt(name, source, total, id, at),
    /** Records the acceptance of an order: an answer of 201 or 202, or the broker’s acknowledgement. */
    accepted: writer('UPDATE attempt SET accepted = 1, id = ?2 WHERE name = ?1') as (name: string, id: string) => void,
    /** Records something that no fault explains. */
    surprise: writer('INSERT OR IGNORE INTO surprise VALUES (?)') as (what: string) => void,
    /** Records that a client gave up, although the system was up. */
    gaveUp: writer('UPDATE attempt SET gave_up = 1 WHERE name = ?') as (name: string) => void,
    cancelAttempted: writer('UPDATE attempt SET cancel = max(cancel, 1) WHERE name = ?') as (name: string) => void,
    cancelAccepted: writer('UPDATE attempt SET cancel = 2 WHERE name = ?') as (name: string) => void,
    poisonAttempted: writer('INSERT INTO poison (name, topic) VALUES (?, ?)') as (name: string, topic: string) => void,
    poisonAccepted: writer('UPDATE poison SET accepted = 1 WHERE name = ?') as (name: string) => void,

    logged: ({ topic, partition, offset, name, eventId, orderId, amount, digest, poison, at }: LoggedEvent) =>
      addEvent(topic, partition, offset, name, eventId, orderId, amount, digest, poison, at),
    deadLetter: ({ id, app, topic, partition, offset, reason }: DeadLetter) =>
      addDeadLetter(id, app, topic, partition, offset, reason),
    order: (view: View, { id, name, total, status, charged }: StoredOrder) =>
      addOrder(view, id, name, total, status, charged),
    payment: (view: View, { id, orderId, amount, status }: StoredPayment) =>
      addPayment(view, id, orderId, amount, status),

    /** Runs many writes in one transaction, which takes a hundredth of the time of separate transactions. */
    async together<T>(work: () => Promise<T>): Promise<T> {
      db.exec('BEGIN')
      try {
        return await work()
      } finally {
        db.exec('COMMIT')
      }
    },
    query: <Row>(sql: string, parameters: Record<string, SQLInputValue> = {}) => {
      const statement = db.prepare(sql)
      statement.setAllowUnknownNamedParameters(true)
      return statement.all(parameters) as Row[]
    },
    close: () => db.close(),
  }
}
