import { databaseFunctions } from '@orderflow/service-kit/save-documents'
import { Client, escapeIdentifier, escapeLiteral } from 'pg'
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

/** A sidecar has at most 16 connections (components/postgresql), so 400 are enough for twenty sidecars and operators. */
export const postgresqlSettings = { max_connections: 400 }

/** The names of databases: one for each service with a store (components/postgresql). */
export const serviceDatabases: readonly string[] = storedServices.map(({ name }) => name)

/**
 * Creates the databases with their functions. Each database has a user of the same name, with the password of `uri`. This user may only call
 * `save_documents` and `check_state_table` (components/postgresql/statestore-save.yaml).
 * @param uri the server's URI without a database, with a user that may create databases and users
 * @throws {Error} the driver's error if the server does not answer
 */
export async function ensureDatabases(uri: string, names: readonly string[]): Promise<void> {
  await inSession(inDatabase(uri, 'postgres'), async (query) => {
    const databases = await query('SELECT datname AS name FROM pg_database')
    const users = await query('SELECT rolname AS name FROM pg_roles')
    const missingIn = (known: Named[]) => names.filter((name) => !known.some((each) => each.name === name))
    for (const name of missingIn(databases)) await query(`CREATE DATABASE ${escapeIdentifier(name)}`)
    for (const name of missingIn(users)) await query(`CREATE USER ${escapeIdentifier(name)}`)
    const password = escapeLiteral(decodeURIComponent(new URL(uri).password))
    for (const name of names) await query(`ALTER USER ${escapeIdentifier(name)} PASSWORD ${password}`)
  })
  for (const name of names) {
    const user = escapeIdentifier(name)
    await inSession(inDatabase(uri, name), async (query) => {
      await query(databaseFunctions)
      await query(`REVOKE ALL ON DATABASE ${user} FROM PUBLIC`)
      await query(`GRANT CONNECT ON DATABASE ${user} TO ${user}`)
      await query(`GRANT EXECUTE ON FUNCTION save_documents, check_state_table TO ${user}`)
    })
  }
}

interface Named {
  name: string
}

async function inSession(uri: string, run: (query: (sql: string) => Promise<Named[]>) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: uri, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    await run(async (sql) => (await client.query<Named>(sql)).rows)
  } finally {
    await client.end()
  }
}

export function inDatabase(uri: string, name: string): string {
  return Object.assign(new URL(uri), { pathname: `/${name}` }).href
}
