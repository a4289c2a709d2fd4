import { inDatabase, sidecarUri, storedServices } from '@orderflow/stack'
import { CliError, newSecret } from '@orderflow/stack/base'
import { connectPostgresql, ensureDatabases } from '@orderflow/stack/internals'
import { MongoClient } from 'mongodb'
import { escapeIdentifier, Pool } from 'pg'
import { median } from '../report/statistics.ts'

/** The key of a stored document, and the time when it was written last, in milliseconds since 1970, or NaN if unknown. */
export interface Stored {
  key: string
  at: number
}

export interface Store {
  kind: 'postgresql' | 'mongodb'
  /** Returns the URI with which the sidecar of a service connects to the store through another `host:port`. */
  uriBy: (address: string, service: string) => string
  /** The store’s `host:port`. */
  address: string
  /** @throws {CliError} `usage` if the server already has a database of a service, because the benchmark would empty it */
  requireUnused: () => Promise<void>
  /** Replaces the services’ databases with empty ones. Stop all sidecars first. */
  empty: () => Promise<void>
  /** Deletes the services’ databases. */
  remove: () => Promise<void>
  /** Returns the service’s documents whose keys and contents contain these texts, which consist of letters and slashes. */
  stored: (service: string, key: string, content?: string) => Promise<Stored[]>
  count: (service: string, key: string, content?: string) => Promise<number>
  /** Returns the median duration of a query through an address, in milliseconds. */
  ping: (address: string) => Promise<number>
  close: () => Promise<void>
}

const usualPorts = { postgresql: '5432', mongodb: '27017' }
/** The names of the databases, as in the components. */
const names = storedServices.map(({ name }) => name)

/**
 * Opens a store. In `postgres://user:password@host:port/`, the user needs the right to create databases. In `mongodb://`, the only host must
 * be the primary, and `replicaSet=` is required.
 * @throws {CliError} `usage` for any other URI
 */
export function storeOf(uri: string): Store {
  const { protocol, hostname, port } = new URL(uri)
  if (/^postgres(ql)?:$/.test(protocol)) return postgresql(uri, `${hostname}:${port || usualPorts.postgresql}`)
  if (protocol === 'mongodb:') return mongodb(uri, `${hostname}:${port || usualPorts.mongodb}`)
  throw new CliError('usage', `STORE_URI=${protocol}... is not a supported store`, {
    nextStep: 'STORE_URI=postgres://... or mongodb://..., or leave it out: the benchmark then starts PostgreSQL',
  })
}

function by(uri: string, address: string, more: Record<string, string> = {}): string {
  const changed = new URL(uri)
  changed.host = address
  for (const [name, value] of Object.entries(more)) changed.searchParams.set(name, value)
  return changed.href
}

function refuseUsed(databases: { name: string }[]): void {
  const used = databases.find(({ name }) => names.includes(name))
  if (!used) return
  throw new CliError('usage', `the server of STORE_URI already has a database ${used.name}`, {
    nextStep: 'use a server without databases of the services, because the benchmark empties them',
  })
}

/** Returns a pool that connects as libpq does. */
async function poolOf(uri: string): Promise<Pool> {
  const { client, settings } = await connectPostgresql(uri)
  await client.end()
  return new Pool({ ...settings, max: 1 })
}

const matches = "strpos(key, $1) > 0 AND position(convert_to($2, 'UTF8') IN value) > 0"

function postgresql(uri: string, address: string): Store {
  const pools = new Map<string, Pool>()
  const password = newSecret()
  const ask = async <Row extends object>(database: string, text: string, values: unknown[] = []) => {
    const pool = pools.get(database) ?? (await poolOf(inDatabase(uri, database)))
    pools.set(database, pool)
    return (await pool.query<Row>(text, values)).rows
  }
  const close = async () => {
    await Promise.all([...pools.values()].map((pool) => pool.end()))
    pools.clear()
  }
  const remove = async () => {
    await close()
    for (const name of names) await ask('postgres', `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`)
  }
  return {
    kind: 'postgresql',
    address,
    uriBy: (other, service) => by(sidecarUri(uri, service, password), other),
    async requireUnused() {
      refuseUsed(await ask<{ name: string }>('postgres', 'SELECT datname AS name FROM pg_database'))
    },
    async empty() {
      await remove()
      await ensureDatabases(uri, Object.fromEntries(names.map((name) => [name, password])))
    },
    remove,
    // PostgreSQL sets these times to the time when the statement began.
    stored(service, key, content = '') {
      const at = '1000 * extract(epoch FROM coalesce(updated_at, created_at))::float AS at'
      return ask<Stored>(service, `SELECT key, ${at} FROM state WHERE ${matches}`, [key, content])
    },
    async count(service, key, content = '') {
      const sql = `SELECT count(*)::int AS count FROM state WHERE ${matches}`
      return (await ask<{ count: number }>(service, sql, [key, content]))[0]?.count ?? 0
    },
    async ping(other) {
      const pool = await poolOf(inDatabase(by(uri, other), 'postgres'))
      const ms = await medianOf(() => pool.query('SELECT 1'))
      await pool.end()
      return ms
    },
    close,
  }
}

function mongodb(uri: string, address: string): Store {
  // Without directConnection, clients would bypass the proxy.
  const direct = (other: string) => by(uri, other, { directConnection: 'true' })
  const client = new MongoClient(direct(address))
  const collection = (service: string) =>
    client.db(service).collection<{ _id: string; value: string }>('daprCollection')
  const remove = async () => {
    for (const name of names) await client.db(name).dropDatabase()
  }
  const withText = (key: string, content?: string) => ({
    _id: { $regex: key },
    ...(content !== undefined && { value: { $regex: content } }),
  })
  return {
    kind: 'mongodb',
    address,
    uriBy: direct,
    async requireUnused() {
      refuseUsed((await client.db('admin').admin().listDatabases()).databases)
    },
    empty: remove,
    remove,
    async stored(service, key, content) {
      const found = await collection(service)
        .find(withText(key, content), { projection: { _id: 1 } })
        .toArray()
      return found.map(({ _id }) => ({ key: _id, at: Number.NaN }))
    },
    count: (service, key, content) => collection(service).countDocuments(withText(key, content)),
    async ping(other) {
      const pinged = await MongoClient.connect(direct(other))
      const ms = await medianOf(() => pinged.db('admin').command({ ping: 1 }))
      await pinged.close()
      return ms
    },
    close: () => client.close(),
  }
}

const pings = 50

async function medianOf(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  await ask()
  for (let count = 0; count < pings; count += 1) {
    const startedAt = performance.now()
    await ask()
    times.push(performance.now() - startedAt)
  }
  return median(times)
}
