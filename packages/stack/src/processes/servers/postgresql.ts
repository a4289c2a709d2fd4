import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { loopbacks } from '../../application/services.ts'
import { CliError } from '../../base/error.ts'
import { commandOf, readProcessTable } from '../../base/process-table.ts'
import { poll } from '../../base/run-tool.ts'
import { findPostgresql } from '../../provision/tools.ts'
import {
  ensureDatabases,
  postgresqlSettings,
  postgresqlUri,
  postgresqlUser,
  sidecarUri,
} from '../../stores/databases.ts'
import { databaseFolder, dataFolder, stackPassword } from '../plan.ts'
import type { ProcessSpec } from '../process/control.ts'
import { waitUntil } from '../process/wait.ts'

/** Debian's package creates this user. PostgreSQL refuses to run as root. */
const serverUser = 'postgres'
const isRoot = process.getuid?.() === 0

/** Returns the command of a server on loopback, without a Unix socket. */
function postgresqlCommand(folder: string, port: number): [command: string, ...args: string[]] {
  const settings = { listen_addresses: loopbacks().join(), port, unix_socket_directories: '', ...postgresqlSettings }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return asServerUser(databaseFolder(folder), [program('postgres'), '-D', databaseFolder(folder), ...options])
}

/** Returns the URI of the user with all rights. Only operators use it. */
export function localPostgresql(folder: string, port: number): string {
  return postgresqlUri('127.0.0.1', port, password(folder))
}

/** Returns the URI of the sidecar of a service, or of another program with its own database. */
export function localSidecarUri(folder: string, port: number, database: string): string {
  return sidecarUri(localPostgresql(folder, port), database, passwordOf(folder, database))
}

/** Creates the databases, their functions and the users of `localSidecarUri`. */
export async function ensureLocalDatabases(folder: string, port: number, databases: readonly string[]): Promise<void> {
  const passwords = Object.fromEntries(databases.map((name) => [name, passwordOf(folder, name)]))
  await ensureDatabases(localPostgresql(folder, port), passwords)
}

const password = (folder: string) => stackPassword(folder, 'postgresql')
const passwordOf = (folder: string, database: string) => stackPassword(folder, `postgresql-${database}`)
const program = (name: string) => join(findPostgresql() ?? '', name)

function asServerUser(data: string, command: [string, ...string[]]): [string, ...string[]] {
  if (!isRoot) return command
  // Lets the server's user read the checkout, even if the checkout is in a folder that only root can enter.
  const pass = isClosed(data) ? ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'] : []
  return ['setpriv', `--reuid=${serverUser}`, `--regid=${serverUser}`, '--init-groups', ...pass, ...command]
}

/** Returns true if other users cannot enter a parent folder. */
function isClosed(path: string): boolean {
  const above = dirname(path)
  return above !== path && ((existsSync(above) && (statSync(above).mode & 0o001) === 0) || isClosed(above))
}

/**
 * Creates the database files if they are missing. Otherwise waits until a killed server has released them.
 * @throws {CliError} `process-died` with the output of initdb
 */
export async function preparePostgresql(folder: string): Promise<void> {
  const data = databaseFolder(folder)
  if (!existsSync(data)) return await makeDatabases(folder, data)
  await poll(() => !isDying(data), { timeoutMs: dyingTimeoutMs })
  removeLockOfOther(data)
}

/** Removes the lock of a killed server if another program now has its pid. PostgreSQL would treat this program as the server, and refuse to start. */
export function removeLockOfOther(data: string): void {
  const pid = lockedBy(data)
  if (pid !== undefined && readProcessTable().has(pid) && !/^postgres(?![\w-])/.test(commandOf(pid)))
    rmSync(lockFile(data))
}

const lockFile = (data: string) => join(data, 'postmaster.pid')

/** Returns the pid of the last server, unless it has ended regularly. */
function lockedBy(data: string): number | undefined {
  return existsSync(lockFile(data)) ? Number.parseInt(readFileSync(lockFile(data), 'utf8'), 10) : undefined
}

/** The longest time until pid 1 reaps a dead process, in milliseconds. */
const dyingTimeoutMs = 30_000

/** Returns true if the last server is dead, but the system still lists its pid. The next server would treat the last one as alive. */
function isDying(data: string): boolean {
  const pid = lockedBy(data)
  return pid !== undefined && existsSync(`/proc/${pid}`) && !readProcessTable().has(pid)
}

/** Creates the database files in a temporary folder, so an interrupted run leaves no incomplete files. */
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
  // The server's user cannot open our pipe, so cat copies the secret.
  const piped: [string, ...string[]] = ['sh', '-c', 'cat | "$@"', 'sh', program('initdb'), ...options]
  const [command, ...args] = asServerUser(data, piped)
  try {
    // The server's user may enter this folder.
    const running = promisify(execFile)(command, args, { cwd: '/' })
    // Passes the secret through a pipe, because a file would stay if this process is killed. Ignores errors of the pipe, because initdb prints its
    // own errors.
    running.child.stdin?.on('error', () => {}).end(secret)
    await running
  } catch (cause) {
    const { stderr = '', stdout = '' } = cause as { stderr?: string; stdout?: string }
    throw new CliError('process-died', `cannot create PostgreSQL's databases:\n${stdout}${stderr}`, {
      cause,
      nextStep: 'correct the problem that initdb reports, then run this again',
    })
  }
}

/** Makes the server's user the owner of a path. This user may pass through the parent folders, but not list them. */
function letServerUserIn(folder: string, path: string): void {
  const id = (flag: string) => Number(execFileSync('id', [flag, serverUser], { encoding: 'utf8' }))
  chownSync(path, id('-u'), id('-g'))
  for (const above of [folder, dataFolder(folder)]) chmodSync(above, statSync(above).mode | 0o011)
}

const startTimeoutMs = 60_000

export async function postgresqlAnswers(
  folder: string,
  port: number,
  databases: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const watch = { folder, processes: ['postgresql'], timeoutMs: startTimeoutMs, signal }
  await waitUntil('PostgreSQL', watch, () =>
    ensureLocalDatabases(folder, port, databases).then(
      () => undefined,
      (error: Error) => error.message,
    ),
  )
}

export function postgresqlSpec(folder: string, port: number): ProcessSpec {
  const [command, ...args] = postgresqlCommand(folder, port)
  return { name: 'postgresql', command, args, env: {}, ports: { server: port } }
}
