import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { tables } from './tables.ts'

/** One order that somebody set out to place. */
export interface Attempt {
  /** The order's customer, unlike any other: by it an order that was stored is known, whatever its id. */
  name: string
  source: 'http' | 'outside'
  total: number
  /** Of an order from outside. That of an HTTP order comes with the answer. */
  id?: string
}

/** A record of the log, as far as the ledger cares. */
export interface LoggedEvent {
  topic: string
  partition: number
  offset: bigint
  name?: string
  eventId?: string
  orderId?: string
  amount?: number
  /** Of the value's bytes. */
  digest: string
  /** The name of a record that was made to be refused. */
  poison?: string
}

export interface DeadLetter {
  id: string
  app: string
  /** Where the record is that it is about. */
  topic: string
  partition: number
  offset: bigint
  reason: string
}

/** Where stored documents were read: what the services answer, or their stores. */
export type View = 'api' | 'store'

export interface StoredOrder {
  id: string
  /** The customer. */
  name: string
  total: number
  status: string
  /** What the order says was charged, or would have been. */
  charged: number | undefined
}

export interface StoredPayment {
  id: string
  orderId: string
  amount: number
  status: string
}

/** With SQLite's usual 2 MB, a million orders take ten times as long to write. */
const cacheKiB = 128 * 1024

export type Book = ReturnType<typeof openBook>

/**
 * The ledger's book: what was attempted, what the log holds, what the stores hold. A database, so that a run of a million
 * orders takes no memory and can be studied afterwards with any SQLite shell.
 * @param consumers the applications that must take notice of each topic
 * @param file a new database file; in memory when left out
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

  const addAttempt = writer('INSERT OR IGNORE INTO attempt (name, source, total, id) VALUES (?, ?, ?, ?)')
  const addEvent = writer('INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const addDeadLetter = writer('INSERT INTO dead_letter VALUES (?, ?, ?, ?, ?, ?)')
  const addOrder = writer('INSERT INTO stored_order VALUES (?, ?, ?, ?, ?, ?)')
  const addPayment = writer('INSERT INTO stored_payment VALUES (?, ?, ?, ?, ?)')
  return {
    attempted: ({ name, source, total, id }: Attempt) => addAttempt(name, source, total, id),
    /** Somebody promised that the order is taken in: an answer of 201 or 202, or the broker's acknowledgement. */
    accepted: writer('UPDATE attempt SET accepted = 1, id = ?2 WHERE name = ?1') as (name: string, id: string) => void,
    /** Something happened that must not, whatever is broken; it says of itself what. */
    surprise: writer('INSERT OR IGNORE INTO surprise VALUES (?)') as (what: string) => void,
    /** The client was refused until it gave up, although the system was up. */
    gaveUp: writer('UPDATE attempt SET gave_up = 1 WHERE name = ?') as (name: string) => void,
    cancelAttempted: writer('UPDATE attempt SET cancel = max(cancel, 1) WHERE name = ?') as (name: string) => void,
    cancelAccepted: writer('UPDATE attempt SET cancel = 2 WHERE name = ?') as (name: string) => void,
    poisonAttempted: writer('INSERT INTO poison (name, topic) VALUES (?, ?)') as (name: string, topic: string) => void,
    poisonAccepted: writer('UPDATE poison SET accepted = 1 WHERE name = ?') as (name: string) => void,

    logged: ({ topic, partition, offset, name, eventId, orderId, amount, digest, poison }: LoggedEvent) =>
      addEvent(topic, partition, offset, name, eventId, orderId, amount, digest, poison),
    deadLetter: ({ id, app, topic, partition, offset, reason }: DeadLetter) =>
      addDeadLetter(id, app, topic, partition, offset, reason),
    order: (view: View, { id, name, total, status, charged }: StoredOrder) =>
      addOrder(view, id, name, total, status, charged),
    payment: (view: View, { id, orderId, amount, status }: StoredPayment) =>
      addPayment(view, id, orderId, amount, status),

    /** Many writes at once take a hundredth of the time. */
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
