import { DatabaseSync } from 'node:sqlite'
import { isDomainKey } from './domain-keys.ts'

interface Row {
  key: string
  value: string
  is_binary: number
}

/**
 * The documents that a service's domain made, read from the file of Dapr's SQLite component: without the list and the
 * places in it, and without the claims of Idempotency-Keys, which the log does not tell of and stored orders stand for.
 */
export function domainDocumentsIn(file: string): Record<string, unknown> {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = database.prepare('SELECT key, value, is_binary FROM state ORDER BY key').all() as unknown as Row[]
    const documents = rows.map(({ key, value, is_binary }) => {
      const text = is_binary ? Buffer.from(value, 'base64').toString() : value
      const { listed, ...document } = JSON.parse(text) as { listed?: string }
      return [key.split('||')[1] ?? key, document] as const
    })
    return Object.fromEntries(documents.filter(([key]) => isDomainKey(key)))
  } finally {
    database.close()
  }
}
