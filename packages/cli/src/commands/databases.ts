import type { DatabaseError } from 'pg'
import { CliError } from '../lib/error.ts'
import { ensureDatabases, serviceDatabases } from '../lib/postgresql.ts'
import { print } from '../lib/terminal.ts'

/** PostgreSQL's code of `insufficient_privilege`. */
const denied = '42501'

/**
 * Runs `./orderflow databases`: creates the databases, users and functions of all services on the server that `State__ConnectionString` names.
 * @throws {CliError} `usage`, `denied`, `unreachable`
 */
export async function databases({ State__ConnectionString: uri = '' }: NodeJS.ProcessEnv): Promise<void> {
  if (!/^postgres(ql)?:\/\//.test(uri) || !URL.canParse(uri)) {
    throw new CliError('usage', 'State__ConnectionString is not the URI of a PostgreSQL server', {
      nextStep: 'set the variable as for the sidecars: postgres://user:password@host:5432/?sslmode=verify-full',
    })
  }
  await ensureDatabases(uri, serviceDatabases).catch((cause: Error & Pick<DatabaseError, 'code'>) => {
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
}
