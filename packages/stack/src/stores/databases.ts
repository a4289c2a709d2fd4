import { databaseFunctions, documentTables, functionNames } from '@orderflow/service-kit/setup'
import { type DatabaseError, escapeIdentifier, escapeLiteral } from 'pg'
import { storedServices } from '../application/services.ts'
import { newSecret } from '../base/credentials.ts'
import { CliError } from '../base/error.ts'
import { connect } from './libpq.ts'
import { withLogin } from './uri.ts'

/** The user that `initdb` or the image creates. Only operators use it, because it has all rights. */
export const postgresqlUser = 'orderflow'

/**
 * Returns a URI without TLS, for loopback or a network of containers. The URI names no database, because each sidecar adds a name
 * (components/postgresql).
 */
export function postgresqlUri(host: string, port: number, password: string, user = postgresqlUser): string {
  return `postgres://${user}:${password}@${host}:${port}/?sslmode=disable`
}

/** A sidecar has at most 16 connections (components/postgresql), so 400 are enough for twenty sidecars and operators. */
export const postgresqlSettings = { max_connections: 400 }

/** The names of databases: one for each service with a store (components/postgresql). */
export const serviceDatabases: readonly string[] = storedServices.map(({ name }) => name)

/** Returns the user of a service's component `statestore`, which owns the tables. The user of `statestore-save` has the service's name. */
export const tablesUser = (service: string): string => `${service}.store`

/** Returns the URI of a service's sidecar (`State__ConnectionString`). */
export function sidecarUri(uri: string, service: string, password: string): string {
  return withLogin(uri, tablesUser(service), password)
}

/**
 * Creates the databases with their functions. Each database has two users with the same password. The first user owns the tables and
 * functions of this database, and has no other right. The second user may only call the functions
 * (components/postgresql/statestore-save.yaml).
 * @param uri the server's URI without a database, with a user that may create databases and users
 * @param passwords the password for each database, by its name. The password of existing users stays if it is undefined here
 * @throws {CliError} `settings` or `denied` for the parameters of TLS
 * @throws {Error} the driver's error if the server does not answer
 */
export async function ensureDatabases(
  uri: string,
  passwords: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  await inSession(inDatabase(uri, 'postgres'), async (query) => {
    const databases = namesOf(await query('SELECT datname AS name FROM pg_database'))
    const users = namesOf(await query(existingUsers))
    for (const [name, password] of Object.entries(passwords)) {
      if (!databases.has(name)) await query(`CREATE DATABASE ${escapeIdentifier(name)}`)
      for (const user of [name, tablesUser(name)]) {
        if (!users.has(user)) await query(`CREATE USER ${escapeIdentifier(user)}`)
        if (password) await query(`ALTER USER ${escapeIdentifier(user)} PASSWORD ${escapeLiteral(password)}`)
      }
      // Lets an operator without all rights act as the owner of the tables.
      await query(`GRANT ${escapeIdentifier(tablesUser(name))} TO CURRENT_USER`)
    }
  })
  for (const name of Object.keys(passwords)) await inSession(inDatabase(uri, name), (query) => grantRights(name, query))
}

async function grantRights(name: string, query: Query): Promise<void> {
  const [saver, owner] = [escapeIdentifier(name), escapeIdentifier(tablesUser(name))]
  await query(`REVOKE ALL ON DATABASE ${saver} FROM PUBLIC`)
  await query(`GRANT CONNECT ON DATABASE ${saver} TO ${saver}, ${owner}`)
  await query('REVOKE CREATE ON SCHEMA public FROM PUBLIC')
  await query(`GRANT CREATE ON SCHEMA public TO ${owner}`)
  // These functions of PostgreSQL store data outside of tables. The statement has an effect only if the operator is a superuser.
  await query('REVOKE ALL ON FUNCTION lo_creat, lo_create, lo_from_bytea FROM PUBLIC')
  for (const { name: object } of await query(objectsOfOthers(name))) await query(`ALTER ${object} OWNER TO ${owner}`)
  await query(`SET ROLE ${owner}`)
  await query(databaseFunctions)
  await query(`GRANT EXECUTE ON FUNCTION ${functionNames.join(', ')} TO ${saver}`)
}

/** Returns the query for tables and functions that another user created, such as an earlier version of this program. */
function objectsOfOthers(name: string): string {
  const list = (names: readonly string[]) => names.map(escapeLiteral).join(', ')
  const isOfOther = (owner: string) => `pg_get_userbyid(${owner}) <> ${escapeLiteral(tablesUser(name))}`
  return `SELECT 'TABLE ' || oid::regclass AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relname IN (${list(documentTables)}) AND ${isOfOther('relowner')}
    UNION ALL SELECT 'FUNCTION ' || oid::regprocedure FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND proname IN (${list(functionNames)}) AND ${isOfOther('proowner')}`
}

const existingUsers = 'SELECT rolname AS name FROM pg_roles'

/** Returns the databases whose sidecars have no user of their own yet. */
async function databasesWithoutUser(uri: string, names: readonly string[]): Promise<string[]> {
  const users = await inSession(inDatabase(uri, 'postgres'), async (query) => namesOf(await query(existingUsers)))
  return names.filter((name) => !users.has(tablesUser(name)))
}

interface Named {
  name: string
}

const namesOf = (rows: Named[]) => new Set(rows.map(({ name }) => name))

type Query = (sql: string) => Promise<Named[]>

async function inSession<Result>(uri: string, run: (query: Query) => Promise<Result>): Promise<Result> {
  const client = await connect(uri)
  return await run(async (sql) => (await client.query<Named>(sql)).rows).finally(() => client.end())
}

export function inDatabase(uri: string, name: string): string {
  return Object.assign(new URL(uri), { pathname: `/${name}` }).href
}

/** PostgreSQL's code of `insufficient_privilege`. */
const denied = '42501'

/**
 * Creates the databases, users and functions of all services on the server that `State__ConnectionString` names.
 * @param options `rotate` replaces the passwords of existing users
 * @returns the databases, and the URI of each sidecar with a new password, by service
 * @throws {CliError} `usage`, `settings`, `denied`, `unreachable`
 */
export async function prepareDatabases(
  { State__ConnectionString: uri = '' }: NodeJS.ProcessEnv,
  { rotate = false } = {},
): Promise<{ names: readonly string[]; uris: Record<string, string> }> {
  if (!/^postgres(ql)?:\/\//.test(uri) || !URL.canParse(uri)) {
    throw new CliError('usage', 'State__ConnectionString is not the URI of a PostgreSQL server', {
      nextStep:
        'set the variable to the URI of a user that may create databases and users: postgres://user:password@host:5432/?sslmode=verify-full',
    })
  }
  const passwords = await prepare(uri, rotate).catch((cause: Error & Pick<DatabaseError, 'code'>) => {
    if (cause instanceof CliError) throw cause
    if (cause.code === denied) {
      throw new CliError('denied', `PostgreSQL refused a step: ${cause.message}`, {
        nextStep: 'give the user of State__ConnectionString the rights CREATEDB and CREATEROLE, then run this again',
        cause,
      })
    }
    throw new CliError('unreachable', `PostgreSQL did not answer as expected: ${cause.message}`, {
      nextStep: 'correct State__ConnectionString, or start the server',
      cause,
    })
  })
  const uris = Object.entries(passwords).flatMap(([name, password]) =>
    password ? [[name, sidecarUri(uri, name, password)]] : [],
  )
  return { names: serviceDatabases, uris: Object.fromEntries(uris) }
}

/** Returns the new passwords by service. Undefined means that a password has not changed. */
async function prepare(uri: string, rotate: boolean): Promise<Record<string, string | undefined>> {
  const asked = rotate ? serviceDatabases : await databasesWithoutUser(uri, serviceDatabases)
  const passwords = Object.fromEntries(
    serviceDatabases.map((name) => [name, asked.includes(name) ? newSecret() : undefined]),
  )
  await ensureDatabases(uri, passwords)
  return passwords
}
