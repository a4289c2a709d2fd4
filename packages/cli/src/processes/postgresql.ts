import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { CliError } from '../lib/error.ts'
import { poll } from '../lib/poll.ts'
import { loopbacks } from '../lib/ports.ts'
import { ensureDatabases, postgresqlSettings, postgresqlUri, postgresqlUser } from '../lib/postgresql.ts'
import { readProcessTable } from '../lib/process-table.ts'
import { findPostgresql } from '../provision/tools.ts'
import { databaseFolder, dataFolder, stackPassword } from './plan.ts'
import type { ProcessSpec } from './process-control.ts'
import { startProcess, stopProcess } from './process-control.ts'
import { waitUntil } from './wait.ts'

/** PostgreSQL refuses to run as root; Debian's package makes this user for it. */
const serverUser = 'postgres'
const isRoot = process.getuid?.() === 0

/** The command of a folder's server, on loopback and without a socket in the file system. */
export function postgresqlCommand(folder: string, port: number): [command: string, ...args: string[]] {
  const settings = { listen_addresses: loopbacks().join(), port, unix_socket_directories: '', ...postgresqlSettings }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return asServerUser(databaseFolder(folder), [program('postgres'), '-D', databaseFolder(folder), ...options])
}

/** The server that a folder's command starts, for its clients on this machine. */
export function localPostgresql(folder: string, port: number): string {
  return postgresqlUri('127.0.0.1', port, password(folder))
}

const password = (folder: string) => stackPassword(folder, 'postgresql')
const program = (name: string) => join(findPostgresql() ?? '', name)

function asServerUser(data: string, command: [string, ...string[]]): [string, ...string[]] {
  if (!isRoot) return command
  // Root's own folders are closed to others: where the checkout is in one, the server may pass through.
  const pass = isClosed(data) ? ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'] : []
  return ['setpriv', `--reuid=${serverUser}`, `--regid=${serverUser}`, '--init-groups', ...pass, ...command]
}

/** Returns whether a folder above a path is closed to other users. */
function isClosed(path: string): boolean {
  const above = dirname(path)
  return above !== path && ((existsSync(above) && (statSync(above).mode & 0o001) === 0) || isClosed(above))
}

/**
 * Makes a folder's databases, once, and waits until a server that was killed has let go of them.
 * @throws {CliError} `process-died` with what initdb printed
 */
export async function preparePostgresql(folder: string): Promise<void> {
  const data = databaseFolder(folder)
  if (existsSync(data)) await poll(() => !isDying(data), { timeoutMs: dyingTimeoutMs })
  else await makeDatabases(folder, data)
}

/** The first process of a machine takes this long at most to see that a child's child has ended. */
const dyingTimeoutMs = 30_000

/** Returns whether the last server is dead and its pid still listed: the next server would take it for alive. */
function isDying(data: string): boolean {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return false
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
  return existsSync(`/proc/${pid}`) && !readProcessTable().has(pid)
}

/** Makes the databases in a temporary folder, so that an interrupted run leaves nothing behind. */
async function makeDatabases(folder: string, data: string): Promise<void> {
  const temporary = `${data}.new`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true })
  if (isRoot) letServerUserIn(folder, temporary)
  await initialize(temporary, password(folder))
  renameSync(temporary, data)
}

async function initialize(data: string, secret: string): Promise<void> {
  const access = [`--username=${postgresqlUser}`, '--auth=scram-sha-256', '--pwfile=/dev/stdin']
  const options = ['-D', data, '--encoding=UTF8', '--no-locale', ...access]
  // The server's user may open a pipe of its own only, which cat is for.
  const piped: [string, ...string[]] = ['sh', '-c', 'cat | "$@"', 'sh', program('initdb'), ...options]
  const [command, ...args] = asServerUser(data, piped)
  try {
    // In a folder that its user may enter.
    const running = promisify(execFile)(command, args, { cwd: '/' })
    // By a pipe: a file would stay when this process is killed. What fails before it reads says why itself.
    running.child.stdin?.on('error', () => {}).end(secret)
    await running
  } catch (cause) {
    const { stderr = '', stdout = '' } = cause as { stderr?: string; stdout?: string }
    throw new CliError('process-died', `PostgreSQL's databases could not be made:\n${stdout}${stderr}`, {
      cause,
      nextStep: 'correct what initdb reports, then run this again',
    })
  }
}

/**
 * Gives this part of a folder to the server's user, who may pass through what is above it in the folder, and not look
 * around there.
 */
function letServerUserIn(folder: string, path: string): void {
  const id = (flag: string) => Number(execFileSync('id', [flag, serverUser], { encoding: 'utf8' }))
  chownSync(path, id('-u'), id('-g'))
  for (const above of [folder, dataFolder(folder)]) chmodSync(above, statSync(above).mode | 0o011)
}

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
 * @throws {CliError} `process-died` with what the server or initdb printed, `not-ready`, `interrupted`
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

/** Returns how the PostgreSQL server of a folder is started. */
export function postgresqlSpec(folder: string, port: number): ProcessSpec {
  const [command, ...args] = postgresqlCommand(folder, port)
  return { name: 'postgresql', command, args, env: {}, ports: { server: port } }
}
