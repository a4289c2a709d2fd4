import { startProcess, stopProcess } from '../../../src/processes/process/control.ts'
import {
  localPostgresql,
  localSidecarUri,
  postgresqlAnswers,
  postgresqlSpec,
  preparePostgresql,
} from '../../../src/processes/servers/postgresql.ts'

export interface PostgresqlServer {
  /** The URI of the user with all rights, without a database. */
  uri: string
  /** Returns the URI of a database's sidecar (`State__ConnectionString`). */
  sidecarUri: (database: string) => string
  /** Stops the server. The data stays for the next start. */
  stop: () => Promise<void>
}

const stopGraceMs = 20_000

/** Starts a server, and waits until it answers and has the databases. */
export async function startPostgresql(
  folder: string,
  port: number,
  databases: readonly string[],
): Promise<PostgresqlServer> {
  await preparePostgresql(folder)
  startProcess(folder, postgresqlSpec(folder, port))
  await postgresqlAnswers(folder, port, databases, undefined)
  return {
    uri: localPostgresql(folder, port),
    sidecarUri: (database) => localSidecarUri(folder, port, database),
    stop: async () => {
      await stopProcess(folder, 'postgresql', stopGraceMs)
    },
  }
}
