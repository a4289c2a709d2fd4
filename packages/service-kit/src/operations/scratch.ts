import { AsyncLocalStorage } from 'node:async_hooks'
import { DatabaseSync } from 'node:sqlite'
import { noAnnouncing } from '../state/announcing.ts'
import type { View } from '../state/batch.ts'
import { noFiring } from '../state/deadlines/firing.ts'
import type { Documents } from '../state/documents.ts'
import { type Handlers, wrapped } from '../stream/consuming/event-handler.ts'
import { OperationError } from './terminal.ts'

/** A document of the scratch store, with the text of the different document that the service's store had, if any. */
export interface ScratchDocument {
  number: number
  tenant: string
  key: string
  /** JSON. */
  value: string
  differs: string | null
}

export type Scratch = ReturnType<typeof openScratch>

/** The beginning of a document's field `listed`, before the id. The document gets its slot when it is written to the service's store. */
const unlisted = 'unlisted '

/** Returns the id under which a document belongs to the list; undefined for other documents. */
export function listedId(document: unknown): string | undefined {
  const { listed } = Object(document) as { listed?: unknown }
  return typeof listed === 'string' && listed.startsWith(unlisted) ? listed.slice(unlisted.length) : undefined
}

/** The memory of the database, in KiB. Further documents are in a temporary file, which SQLite deletes. */
const cacheKib = 64 * 1024

const schema = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${cacheKib};
  CREATE TABLE documents (
    number INTEGER PRIMARY KEY, tenant TEXT, key TEXT, value TEXT, differs TEXT, isOpen INTEGER DEFAULT 1, isWritten INTEGER DEFAULT 0,
    UNIQUE (tenant, key)
  );
  CREATE INDEX openDocuments ON documents (number) WHERE isOpen;
  CREATE TABLE effects (topic TEXT, event INTEGER, document INTEGER);
`

/**
 * Opens a temporary store, which a rebuild fills from the log before it changes the service's store.
 * @param isShared true if the service does not separate tenants (`Auth__Mode`)
 */
export function openScratch(isShared: boolean) {
  const database = new DatabaseSync('')
  database.exec(schema)
  const find = database.prepare('SELECT value FROM documents WHERE tenant = ? AND key = ?')
  const save = database.prepare(
    `INSERT INTO documents (tenant, key, value) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, isOpen = 1 RETURNING number`,
  )
  const addEffect = database.prepare('INSERT INTO effects VALUES (?, ?, ?)')
  const findOpen = database.prepare(
    'SELECT number, tenant, key, value, differs FROM documents WHERE isOpen AND number > ? ORDER BY number LIMIT ?',
  )
  const settle = database.prepare('UPDATE documents SET isOpen = 0, isWritten = max(isWritten, ?) WHERE number = ?')
  const differ = database.prepare('UPDATE documents SET differs = ? WHERE number = ?')
  const countApplied = database.prepare(
    `SELECT count(DISTINCT event) AS count FROM effects JOIN documents ON documents.number = effects.document
     WHERE topic = ? AND isWritten`,
  )
  const current = new AsyncLocalStorage<{ topic: string; event: number }>()
  let events = 0

  function textOf(tenant: string, key: string): string | undefined {
    return (find.get(tenant, key) as { value: string } | undefined)?.value
  }

  function write(tenant: string, key: string, value: string): void {
    try {
      const { number } = save.get(tenant, key, value) as { number: number }
      const event = current.getStore()
      if (event) addEffect.run(event.topic, event.event, number)
    } catch (cause) {
      throw new OperationError(`the temporary store of the rebuild cannot be written: ${(cause as Error).message}`, {
        nextStep: 'set TMPDIR to a folder with free space, about as much as the store has',
        cause,
      })
    }
  }

  function documentsIn(tenant: string): Documents {
    return {
      async read(keys) {
        const texts = keys.map((key) => [key, textOf(tenant, key)] as const)
        return new Map(
          texts.flatMap(([key, text]) => (text === undefined ? [] : [[key, { value: JSON.parse(text), etag: '' }]])),
        )
      },
      async change({ key, decide }) {
        const values = new Map<string, unknown>()
        const before = textOf(tenant, key)
        let after: string | undefined
        const view: View = {
          get<T>(asked: string) {
            const text = values.has(asked) ? undefined : textOf(tenant, asked)
            if (text !== undefined) values.set(asked, JSON.parse(text))
            return values.get(asked) as T | undefined
          },
          write(value) {
            after = JSON.stringify(value)
            values.set(key, value)
          },
          list: (id) => `${unlisted}${id}`,
          mark: () => '',
          arm() {},
        }
        const result = decide(view)
        if (after !== undefined && after !== before) write(tenant, key, after)
        return result
      },
      page() {
        throw new Error('a handler of a rebuild must not read a list')
      },
      generation: () => 0,
      fullKey: (key) => key,
      announcing: noAnnouncing,
      firing: noFiring,
    }
  }

  return {
    documentsOf: (tenant: string) => documentsIn(isShared ? '' : tenant),
    /** Returns the handlers of a topic. They note which documents each event changed. */
    noting: (topic: string, handlers: Handlers<boolean>) =>
      wrapped(handlers, (event, handle) => current.run({ topic, event: ++events }, () => handle(event))),
    /** Returns the next documents that are not settled, in the order in which events created them. */
    open: (after: number, count: number) => findOpen.all(after, count) as unknown as ScratchDocument[],
    /** Notes that the service's store has the document. */
    settle: (number: number, isWritten: boolean) => void settle.run(isWritten ? 1 : 0, number),
    /** Notes the text of the different document that the service's store has. */
    differs: (number: number, stored: string) => void differ.run(stored, number),
    /** Returns the number of a topic's events that changed a document which then had to be written. */
    applied: (topic: string) => (countApplied.get(topic) as { count: number }).count,
    close: () => database.close(),
  }
}
