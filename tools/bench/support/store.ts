import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** What a sidecar has committed to its SQLite file (table `state` of Dapr's component), read from outside. */
export interface Store {
  /** Documents whose key is like this, as SQL's LIKE understands it. */
  count: (like: string) => number
  /** Such keys written since the last call, in the order of their writing; a document written again may come again. */
  news: (like: string) => string[]
  close: () => void
}

/** Opens a store as soon as its file and table are there; until then it is empty. */
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
      // An upsert of Dapr's replaces the row, and a row that is new has the largest rowid.
      const found = rows('SELECT rowid, key FROM state WHERE rowid > ? AND key LIKE ? ORDER BY rowid', seen, like)
      seen = Number(found.at(-1)?.rowid ?? seen)
      return found.map(({ key }) => String(key))
    },
    close: () => database?.close(),
  }
}

/** Calls back with such keys that the store's writers commit from now on, a few milliseconds later. Returns a function that ends it. */
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

/** Counts the documents with such keys that come from now on. */
export function countArrivals(file: string, like: string) {
  const store = openStore(file)
  const before = store.count(like)
  store.news(like)
  let arrived = 0
  return {
    /** Undefined once there are as many as expected. Looks at what is new, and counts the whole store only to make sure. */
    missing(expected: number): string | undefined {
      arrived += store.news(like).length
      const found = arrived < expected ? arrived : store.count(like) - before
      return found < expected ? `${found} of ${expected} are stored` : undefined
    },
    close: store.close,
  }
}
