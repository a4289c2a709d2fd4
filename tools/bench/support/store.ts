import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Reads the table `state` in the SQLite file of a sidecar. */
export interface Store {
  count: (like: string) => number
  /** Returns the matching keys that were written since the last call, in the order of writing. */
  news: (like: string) => string[]
  close: () => void
}

export function openStore(file: string): Store {
  let database: DatabaseSync | undefined
  let seen = 0

  function rows(sql: string, ...parameters: (string | number)[]): Record<string, unknown>[] {
    if (!database && existsSync(file)) database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
    if (!database) return []
    try {
      return database.prepare(sql).all(...parameters)
    } catch (error) {
      if ((error as Error).message.includes('no such table')) return []
      throw error
    }
  }

  return {
    count: (like) => Number(rows('SELECT count(*) AS count FROM state WHERE key LIKE ?', like)[0]?.count ?? 0),
    news(like) {
      // Dapr’s upsert replaces the row, and a new row has the largest rowid.
      const found = rows('SELECT rowid, key FROM state WHERE rowid > ? AND key LIKE ? ORDER BY rowid', seen, like)
      seen = Number(found.at(-1)?.rowid ?? seen)
      return found.map(({ key }) => String(key))
    },
    close: () => database?.close(),
  }
}

/** Calls `onKeys` with new matching keys within a few milliseconds. Returns a function that stops these calls. */
export function watchStore(file: string, like: string, onKeys: (keys: string[], at: number) => void): () => void {
  const store = openStore(file)
  store.news(like)
  const timer = setInterval(() => {
    const keys = store.news(like)
    if (keys.length > 0) onKeys(keys, performance.now())
  }, 2)
  return () => {
    clearInterval(timer)
    store.close()
  }
}

/** Counts new documents with matching keys from now on. */
export function countArrivals(file: string, like: string) {
  const store = openStore(file)
  const before = store.count(like)
  store.news(like)
  let arrived = 0
  return {
    /** Returns undefined when the expected number has arrived. */
    missing(expected: number): string | undefined {
      arrived += store.news(like).length
      const found = arrived < expected ? arrived : store.count(like) - before
      return found < expected ? `${found} of ${expected} are stored` : undefined
    },
    close: store.close,
  }
}
