import { Client, escapeIdentifier } from 'pg'
import { storedServices } from '../lib/services.ts'

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
