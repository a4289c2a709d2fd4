import type { DatabaseError } from 'pg'
import { newSecret } from '../base/credentials.ts'
import { CliError } from '../base/error.ts'
import { databasesWithoutUser, ensureDatabases, serviceDatabases, sidecarUri } from './databases.ts'

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
