import type { DatabaseError } from 'pg'
import { newSecret } from '../lib/credentials.ts'
import { CliError } from '../lib/error.ts'
import { databasesWithoutUser, ensureDatabases, serviceDatabases, sidecarUri } from '../lib/postgresql.ts'
import { print } from '../lib/terminal.ts'

/** PostgreSQL's code of `insufficient_privilege`. */
const denied = '42501'

/**
 * Runs `./orderflow databases`: creates the databases, users and functions of all services on the server that `State__ConnectionString` names.
 * Prints the URI of each sidecar whose password it has created.
 * @param options `rotate` replaces the passwords of existing users
 * @throws {CliError} `usage`, `settings`, `denied`, `unreachable`
 */
export async function databases(
  { State__ConnectionString: uri = '' }: NodeJS.ProcessEnv,
  { rotate = false } = {},
): Promise<void> {
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
  print(`ready: ${serviceDatabases.join(', ')}`)
  for (const [name, password] of Object.entries(passwords)) {
    if (password) print(`${name}: State__ConnectionString=${sidecarUri(uri, name, password)}`)
  }
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
