import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { inDatabase, type LocalStore, localPostgresql, serviceNamed } from '@orderflow/stack'
import {
  ensureLocalDatabases,
  localSidecarUri,
  type ProcessSpec,
  postgresqlSpec,
  preparePostgresql,
  serviceDatabases,
} from '@orderflow/stack/internals'
import { Client } from 'pg'
import type { StoredDocument } from '../ledger/read-stores.ts'

/** The services’ store, with direct access that does not use the sidecars. */
export interface Store {
  kind: LocalStore
  /** The server’s process and address, or undefined for files. */
  server?: { spec: ProcessSpec; address: string }
  prepare: () => Promise<void>
  answers: () => Promise<void>
  /** Returns the connection string of a service’s sidecar, perhaps with another address. */
  connectionString: (service: string, address?: string) => string
  /** Locks all data of a service, as a backup may. */
  lock: (service: string, ms: number) => Promise<void>
  /** Returns a service’s documents whose keys have this prefix, in the order of keys. */
  documents: (service: string, prefix: string) => AsyncIterable<StoredDocument>
}

/** @param port the port of the server, if there is one */
export function createStore(kind: LocalStore, folder: string, port: number): Store {
  return kind === 'postgresql' ? postgresql(folder, port) : sqlite(folder)
}

const ownKey = (key: string) => key.split('||').slice(1).join('||')

/** Creates a store with a file for each service (Dapr’s state.sqlite). */
function sqlite(folder: string): Store {
  const file = (service: string) => join(folder, `${serviceNamed(service).role}.db`)
  return {
    kind: 'sqlite',
    prepare: async () => void mkdirSync(folder, { recursive: true }),
    answers: async () => {},
    connectionString: file,
    async lock(service, ms) {
      const db = new DatabaseSync(file(service), { timeout: 0 })
      try {
        while (!tryLock(db)) await delay(1)
        await delay(ms)
        db.exec('ROLLBACK')
      } finally {
        db.close()
      }
    },
    async *documents(service, prefix) {
      const db = new DatabaseSync(file(service), { readOnly: true })
      try {
        const select = db.prepare('SELECT key, value, is_binary FROM state WHERE key >= ? AND key < ? ORDER BY key')
        const first = `${service}||${prefix}`
        for (const { key, value, is_binary } of select.iterate(first, `${first}~`)) {
          const text = is_binary ? Buffer.from(String(value), 'base64').toString() : String(value)
          yield [ownKey(String(key)), JSON.parse(text)]
        }
      } finally {
        db.close()
      }
    },
  }
}

function tryLock(db: DatabaseSync): boolean {
  try {
    db.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (/locked|busy/.test((error as Error).message)) return false
    throw error
  }
}

const pageSize = 10_000

/** Creates a store on a server with a database for each service (Dapr’s state.postgresql). */
function postgresql(folder: string, port: number): Store {
  const uri = () => localPostgresql(folder, port)
  async function withClient<Result>(service: string, work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = new Client({ connectionString: inDatabase(uri(), service) })
    // The server may be killed at any time. The next query reports the error.
    client.on('error', () => {})
    await client.connect()
    return await work(client).finally(() => client.end().catch(() => {}))
  }
  const page = (service: string, prefix: string, after: string) =>
    withClient(service, (client) =>
      client.query<{ key: string; value: Buffer }>(
        `SELECT key, value FROM state WHERE starts_with(key, $1) AND key > $2 ORDER BY key LIMIT ${pageSize}`,
        [prefix, after],
      ),
    )
  return {
    kind: 'postgresql',
    server: { spec: postgresqlSpec(folder, port), address: `127.0.0.1:${port}` },
    prepare: () => preparePostgresql(folder),
    answers: () => ensureLocalDatabases(folder, port, serviceDatabases),
    connectionString: (service, address = `127.0.0.1:${port}`) =>
      Object.assign(new URL(localSidecarUri(folder, port, service)), { host: address }).href,
    async lock(service, ms) {
      await withClient(service, async (client) => {
        await client.query('BEGIN; LOCK TABLE state IN ACCESS EXCLUSIVE MODE')
        await delay(ms)
        await client.query('ROLLBACK')
      })
    },
    async *documents(service, prefix) {
      const first = `${service}||${prefix}`
      for (let after = first; ; ) {
        const { rows } = await page(service, first, after)
        for (const { key, value } of rows) yield [ownKey(key), JSON.parse(value.toString())]
        const last = rows.at(-1)
        if (!last) return
        after = last.key
      }
    },
  }
}
