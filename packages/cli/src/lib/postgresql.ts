import { Client, escapeIdentifier } from 'pg'
import { storedServices } from './services.ts'

/** The user that `initdb` or the image creates. */
export const postgresqlUser = 'orderflow'

/**
 * Returns a URI without TLS, for loopback or a network of containers. The URI names no database, because each sidecar adds a name
 * (components/postgresql).
 */
export function postgresqlUri(host: string, port: number, password: string): string {
  return `postgres://${postgresqlUser}:${password}@${host}:${port}/?sslmode=disable`
}

/** A sidecar's pool has at most 32 connections (components/postgresql/statestore.yaml), so 400 are enough for twelve sidecars and operators. */
export const postgresqlSettings = { max_connections: 400 }

/** The names of databases: one for each service with a store (components/postgresql). */
export const serviceDatabases: readonly string[] = storedServices.map(({ name }) => name)

/**
 * @param uri the server's URI without a database
 * @throws {Error} the driver's error if the server does not answer
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

export function inDatabase(uri: string, name: string): string {
  return Object.assign(new URL(uri), { pathname: `/${name}` }).href
}
