import { Client, escapeIdentifier } from 'pg'
import { storedServices } from './services.ts'

/** The user of the stack's PostgreSQL, whom initdb and the image make. */
export const postgresqlUser = 'orderflow'

/**
 * A PostgreSQL server as clients name it, without a database: a sidecar adds its own (components/postgresql). Without TLS, which is for
 * loopback and for a network of containers.
 */
export function postgresqlUri(host: string, port: number, password: string): string {
  return `postgres://${postgresqlUser}:${password}@${host}:${port}/?sslmode=disable`
}

/**
 * Settings of every PostgreSQL server of the stack, in containers and as a process. A sidecar's pool has up to 32 connections
 * (components/postgresql/statestore.yaml), so this is enough for twelve of them, and for operators.
 */
export const postgresqlSettings = { max_connections: 400 }

/** One for each service with a store, by its app-id (components/postgresql). */
export const serviceDatabases: readonly string[] = storedServices.map(({ name }) => name)

/**
 * Makes those of the databases that a PostgreSQL server does not have yet.
 * @param uri of the server, without a database
 * @throws {Error} the driver's, while the server does not answer
 */
export async function ensureDatabases(uri: string, names: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: inDatabase(uri, 'postgres'), connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    const { rows } = await client.query<{ datname: string }>('SELECT datname FROM pg_database')
    const missing = names.filter((name) => !rows.some(({ datname }) => datname === name))
    for (const name of missing) await client.query(`CREATE DATABASE ${escapeIdentifier(name)}`)
  } finally {
    await client.end()
  }
}

/** The URI of a database of the server that a URI without one names. */
export function inDatabase(uri: string, name: string): string {
  return Object.assign(new URL(uri), { pathname: `/${name}` }).href
}
