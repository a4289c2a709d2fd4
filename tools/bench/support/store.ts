import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** The documents whose key and content match. `%` stands for any text. */
export interface Documents {
  key: string
  content?: string
}

/** The orders that are Paid. */
export const paidOrders: Documents = { key: '%||order/%', content: '%"PaymentApproved"%' }

/** Reads the table `state` in the SQLite file of a sidecar. */
export interface Store {
  count: (documents: Documents) => number
  /** Returns the matching keys that were written since the last call, in the order of writing. */
  news: (documents: Documents) => string[]
  close: () => void
}

export function openStore(file: string): Store {
  let database: DatabaseSync | undefined
  let seen = 0

  function rows(sql: string, ...parameters: (string | number)[]): Record<string, unknown>[] {
    if (!database && existsSync(file)) {
      database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
      // Dapr stores bytes as base64.
      database.function('content_of', (value, isBinary) =>
        isBinary ? Buffer.from(String(value), 'base64').toString() : value,
      )
    }
    if (!database) return []
    try {
      return database.prepare(sql).all(...parameters)
    } catch (error) {
      if ((error as Error).message.includes('no such table')) return []
      throw error
    }
  }

  return {
    count({ key, content = '%' }) {
      const sql = 'SELECT count(*) AS count FROM state WHERE key LIKE ? AND content_of(value, is_binary) LIKE ?'
      return Number(rows(sql, key, content)[0]?.count ?? 0)
    },
    news({ key, content = '%' }) {
      // Dapr’s upsert replaces the row, and a new row has the largest rowid.
      const sql =
        'SELECT rowid, key FROM state WHERE rowid > ? AND key LIKE ? AND content_of(value, is_binary) LIKE ? ORDER BY rowid'
      const found = rows(sql, seen, key, content)
      seen = Number(found.at(-1)?.rowid ?? seen)
      return found.map(({ key }) => String(key))
    },
    close: () => database?.close(),
  }
}

/** Calls `onKeys` with the keys of written matching documents within a few milliseconds. Returns a function that stops these calls. */
export function watchStore(
  file: string,
  documents: Documents,
  onKeys: (keys: string[], at: number) => void,
): () => void {
  const store = openStore(file)
  store.news(documents)
  const timer = setInterval(() => {
    const keys = store.news(documents)
    if (keys.length > 0) onKeys(keys, performance.now())
  }, 2)
  return () => {
    clearInterval(timer)
    store.close()
  }
}

/** Counts new matching documents from now on. */
export function countArrivals(file: string, documents: Documents) {
  const store = openStore(file)
  const before = store.count(documents)
  store.news(documents)
  let arrived = 0
  return {
    /** Returns undefined when the expected number has arrived. */
    missing(expected: number): string | undefined {
      arrived += store.news(documents).length
      const found = arrived < expected ? arrived : store.count(documents) - before
      return found < expected ? `${found} of ${expected} are stored` : undefined
    },
    close: store.close,
  }
}
