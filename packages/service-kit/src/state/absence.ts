import type { Sidecar, StoredDocument } from '../sidecar/sidecar.ts'

/*
 * A bulk read may leave out documents that exist (`Sidecar.read` explains why). This file holds the ways to make sure of an absence.
 * docs/adr/0017 lists which of them applies where.
 */

type Documents = Map<string, StoredDocument>

/** Adds the documents that exist of the `keys` missing in `found`. Asks for each key by itself, so what is missing then is absent. */
export async function addMissing(sidecar: Sidecar, found: Documents, keys: Iterable<string>): Promise<void> {
  for (const [key, document] of await readEach(sidecar, missingIn(found, keys))) found.set(key, document)
}

/** Returns the documents that exist, by key. Asks for each key by itself: a call for each, so about ten times the cost of a bulk read. */
export async function readEach(sidecar: Sidecar, keys: string[]): Promise<Documents> {
  const documents = await Promise.all(keys.map((key) => sidecar.readOne(key)))
  return new Map(
    keys.flatMap((key, index): [string, StoredDocument][] => {
      const document = documents[index]
      return document ? [[key, document]] : []
    }),
  )
}

/**
 * Adds the documents that exist of the `keys` missing in `found`, on SQLite only: reads the missing keys in bulk until a read finds none.
 * SQLite reports an error before the first row, and Dapr drops only later ones (components-contrib 1.18.3, state/sqlite; modernc.org/sqlite
 * 1.34.5, `stmt.query`). So a read that finds nothing is complete.
 */
export async function addMissingInBulk(sidecar: Sidecar, found: Documents, keys: Iterable<string>): Promise<void> {
  for (let missing = missingIn(found, keys); missing.length > 0; ) {
    const more = await sidecar.read(missing)
    if (more.size === 0) return
    for (const [key, document] of more) found.set(key, document)
    missing = missingIn(found, missing)
  }
}

function missingIn(found: Documents, keys: Iterable<string>): string[] {
  return [...new Set(keys)].filter((key) => !found.has(key))
}
