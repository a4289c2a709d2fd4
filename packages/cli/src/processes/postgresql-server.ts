import { ensureDatabases } from '../lib/postgresql.ts'
import { localPostgresql, preparePostgresql } from './postgresql.ts'
import { startProcess, stopProcess } from './process-control.ts'
import { postgresqlSpec } from './process-spec.ts'
import { waitUntil } from './wait.ts'

/** A PostgreSQL server that runs. */
export interface PostgresqlServer {
  /** With user and password, and without a database, as `State__ConnectionString` of a sidecar has it. */
  uri: string
  /** Stops it in order; the data stays, for another start. */
  stop: () => Promise<void>
}

const startTimeoutMs = 60_000
const stopGraceMs = 20_000

/**
 * Starts the PostgreSQL server of a stack's folder on a port of loopback, makes the databases that it lacks, and waits until it answers.
 * It is one of the folder's processes like any other: `claimFolder` before lets it end with this program.
 * @throws {StackError} `process-died` with what the server or initdb printed, `not-ready`, `interrupted`
 */
export async function startPostgresql(
  folder: string,
  port: number,
  databases: readonly string[],
  signal?: AbortSignal,
): Promise<PostgresqlServer> {
  await preparePostgresql(folder)
  startProcess(folder, postgresqlSpec(folder, port))
  await postgresqlAnswers(folder, port, databases, signal)
  return {
    uri: localPostgresql(folder, port),
    stop: async () => {
      await stopProcess(folder, 'postgresql', stopGraceMs)
    },
  }
}

/** Waits until the server of a folder answers and has these databases. */
export async function postgresqlAnswers(
  folder: string,
  port: number,
  databases: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const watch = { folder, processes: ['postgresql'], timeoutMs: startTimeoutMs, signal }
  await waitUntil('PostgreSQL', watch, () =>
    ensureDatabases(localPostgresql(folder, port), databases).then(
      () => undefined,
      (error: Error) => error.message,
    ),
  )
}
