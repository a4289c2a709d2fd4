import { inDatabase, storedServices } from '@orderflow/stack'
import { MongoClient } from 'mongodb'
import { Pool } from 'pg'

export interface Stores {
  /** Returns a service’s stored documents as JSON, by key. The keys lack Dapr’s prefix, which is the application’s name. */
  read: (service: string, prefix?: string) => Promise<[key: string, json: string][]>
  empty: (service: string) => Promise<void>
  copy: (service: string) => Promise<void>
  /** Replaces a service’s store with the copy. */
  putBack: (service: string) => Promise<void>
  /** @throws {Error} while the server does not answer */
  ping: () => Promise<void>
  close: () => Promise<void>
}

export function openStores(uri: string): Stores {
  return uri.startsWith('postgres:') ? postgresqlStores(uri) : mongoStores(uri)
}

const ownKey = (service: string, key: string) => key.slice(`${service}||`.length)

interface MongoRow {
  _id: string
  value: string
}

function mongoStores(uri: string): Stores {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 })
  const collection = (service: string) => client.db(service).collection<MongoRow>('daprCollection')
  const copies = new Map<string, MongoRow[]>()
  return {
    async read(service, prefix = '') {
      const first = `${service}||${prefix}`
      const found = await collection(service)
        .find({ _id: { $gte: first, $lt: `${first}\uffff` } })
        .sort({ _id: 1 })
        .toArray()
      return found.map(({ _id, value }) => [ownKey(service, _id), value])
    },
    empty: async (service) => void (await collection(service).deleteMany({})),
    async copy(service) {
      copies.set(service, await collection(service).find().toArray())
    },
    async putBack(service) {
      const documents = copies.get(service) ?? []
      await collection(service).deleteMany({})
      if (documents.length > 0) await collection(service).insertMany(documents)
    },
    ping: async () => void (await client.db().command({ ping: 1 })),
    close: () => client.close(),
  }
}

function postgresqlStores(uri: string): Stores {
  const pools = new Map(
    storedServices.map(({ name }) => [name, new Pool({ connectionString: inDatabase(uri, name), max: 2 })]),
  )
  // Idle connections break when the server is killed.
  for (const pool of pools.values()) pool.on('error', () => {})
  const poolOf = (service: string) => pools.get(service) as Pool
  return {
    async read(service, prefix = '') {
      const { rows } = await poolOf(service).query<{ key: string; value: Buffer }>(
        'SELECT key, value FROM state WHERE starts_with(key, $1) ORDER BY key COLLATE "C"',
        [`${service}||${prefix}`],
      )
      return rows.map(({ key, value }) => [ownKey(service, key), value.toString()])
    },
    empty: async (service) => void (await poolOf(service).query('DELETE FROM state')),
    async copy(service) {
      await poolOf(service).query('CREATE TABLE older_state AS TABLE state')
    },
    async putBack(service) {
      const columns = 'key, value, etag, expires_at, created_at, updated_at'
      const fill = `INSERT INTO state (${columns}) SELECT ${columns} FROM older_state`
      await poolOf(service).query(`BEGIN; DELETE FROM state; ${fill}; DROP TABLE older_state; COMMIT`)
    },
    ping: async () => {
      for (const pool of pools.values()) await pool.query('SELECT 1')
    },
    close: async () => {
      for (const pool of pools.values()) await pool.end()
    },
  }
}
