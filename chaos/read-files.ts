import { DatabaseSync } from 'node:sqlite'
import { entryOf } from '@orderflow/stack'
import type { Book } from './ledger/book.ts'
import { readStores, type StoredDocument, storedPrefixes } from './ledger/read-stores.ts'

/** Reads what stands in the files of the services' state stores (Dapr's state.sqlite) into the book. */
export async function readFiles(files: Record<string, string>, book: Book): Promise<void> {
  const services = Object.entries(storedPrefixes)
  const stores = services.map(
    ([name, prefix]) => [name, documents(entryOf(files, name), `${name}||${prefix}`)] as const,
  )
  await book.together(async () => readStores(Object.fromEntries(stores), book))
}

function* documents(file: string, prefix: string): Generator<StoredDocument> {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const select = db.prepare('SELECT key, value, is_binary FROM state WHERE key >= ? AND key < ? ORDER BY key')
    for (const { key, value, is_binary } of select.iterate(prefix, `${prefix}~`)) {
      const text = is_binary ? Buffer.from(String(value), 'base64').toString() : String(value)
      yield [String(key).split('||').slice(1).join('||'), JSON.parse(text)]
    }
  } finally {
    db.close()
  }
}
