import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../lib/files.ts'
import { withLock } from '../lib/lock.ts'
import { repository } from '../lib/paths.ts'
import { poll } from '../lib/poll.ts'
import { type ProcessEntry, readProcessTable } from '../lib/process-table.ts'
import type { ProcessName } from './plan.ts'
import { jaeger, logFile } from './plan.ts'

/** The command, variables and ports of a process. */
export interface ProcessSpec {
  name: ProcessName
  command: string
  args: string[]
  /** Laid over what it inherits (`inheritedEnvironment`). */
  env: Record<string, string>
  /** Its ports, by use. */
  ports: Record<string, number>
}

/** The pid file of a process: its group's leader, which is `packages/cli/launch`. */
interface RunRecord {
  pid: number
  startId: string
  /** Milliseconds since the epoch. */
  startedAt: number
}

type ProcessState =
  | { state: 'running'; pid: number; group: number; startedAt: number }
  | { state: 'crashed'; exit: string }
  | { state: 'stopped' }

const recordFile = (folder: string, name: string) => join(folder, 'run', `${name}.json`)

/** Returns the file in which `packages/cli/launch` leaves the exit status. */
const exitFile = (folder: string, name: string) => join(folder, 'run', `${name}.exit`)

function writeRecord(folder: string, name: string, pid: number): void {
  const startId = readProcessTable().get(pid)?.startId ?? ''
  replaceFile(recordFile(folder, name), JSON.stringify({ pid, startId, startedAt: Date.now() } satisfies RunRecord))
}

function removeRecord(folder: string, name: string): void {
  for (const file of [recordFile(folder, name), exitFile(folder, name)]) rmSync(file, { force: true })
}

/** Names of all processes on record, those that run beside the stack's own too, such as what `make observe` starts. */
export function recordedNames(folder: string): string[] {
  const run = join(folder, 'run')
  if (!existsSync(run)) return []
  const records = readdirSync(run).filter((file) => file.endsWith('.json') && file !== 'owner.json')
  return records.map((file) => file.slice(0, -'.json'.length))
}

/** Returns the state of a process that the stack started. A later process with the same pid is not ours. */
export function processState(folder: string, name: string, table = readProcessTable()): ProcessState {
  const record = readText(recordFile(folder, name))
  if (!record) return { state: 'stopped' }
  const { pid, startId, startedAt } = JSON.parse(record) as RunRecord
  // Empty while its launcher is about to write it.
  const exit = readText(exitFile(folder, name)) || undefined
  const members = groupMembers(pid, startId, table)
  if (exit !== undefined || members.length === 0) return { state: 'crashed', exit: describeExit(exit) }
  const command = members.find((member) => member.pid !== pid) ?? members[0]
  return { state: 'running', pid: command?.pid ?? pid, group: pid, startedAt }
}

/**
 * The group's live members. A leader with another start id means the pid was reused. A missing leader does not: the
 * system gives no new process the id of a group that still has members.
 */
function groupMembers(group: number, startId: string, table: Map<number, ProcessEntry>): ProcessEntry[] {
  const leader = table.get(group)
  if (leader && leader.startId !== startId) return []
  return [...table.values()].filter((entry) => entry.group === group)
}

/** Returns whether the group has a live member. */
function isGroupAlive(group: number): boolean {
  return [...readProcessTable().values()].some((entry) => entry.group === group)
}

/** A shell reports death by signal n as 128 + n. */
function describeExit(status: string | undefined): string {
  const code = Number(status?.trim())
  if (!status) return 'killed'
  return code > 128 ? `killed by signal ${code - 128}` : `exit code ${code}`
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

const launcher = join(repository, 'packages/cli/launch')

/** Starts a process in a group of its own that outlives us, its output appended to its log. Returns the group's id. */
export function startProcess(folder: string, spec: ProcessSpec): number {
  for (const name of ['logs', 'run']) mkdirSync(join(folder, name), { recursive: true })
  rmSync(exitFile(folder, spec.name), { force: true })
  const log = openSync(logFile(folder, spec.name), 'a')
  const child = spawn(launcher, [exitFile(folder, spec.name), spec.command, ...spec.args], {
    cwd: repository,
    env: { ...inheritedEnvironment(process.env), ...spec.env },
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  if (child.pid === undefined) throw new Error(`cannot run ${launcher}`)
  try {
    writeRecord(folder, spec.name, child.pid)
  } catch (error) {
    // Without a record no command could ever stop it.
    signalGroup(child.pid, 'SIGKILL')
    throw error
  }
  return child.pid
}

/**
 * To PostgreSQL SIGTERM means to wait until its last client has gone. Jaeger keeps nothing, and takes 18 seconds to end
 * in order.
 */
const stopSignals: Record<string, NodeJS.Signals> = { postgresql: 'SIGINT', jaeger: 'SIGKILL' }
const stopSignalOf = (name: string) => stopSignals[name] ?? 'SIGTERM'

/**
 * Ends a process we started: SIGTERM (or what means the same to it), after `graceMs` SIGKILL, and returns when its whole group is gone.
 * Does nothing when it does not run; a pid that now belongs to someone else is left alone.
 */
export async function stopProcess(folder: string, name: string, graceMs: number): Promise<boolean> {
  const state = processState(folder, name)
  if (state.state === 'running') {
    signalGroup(state.group, stopSignalOf(name))
    if (!(await groupEnds(state.group, graceMs))) {
      signalGroup(state.group, 'SIGKILL')
      if (!(await groupEnds(state.group, 5_000))) throw new Error(`${name} (pid ${state.pid}) survives SIGKILL`)
    }
  }
  removeRecord(folder, name)
  return state.state === 'running'
}

/** Sends a signal to a group; one that is gone already is fine. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Waits until a group has no live member; false when it still has after `timeoutMs`. */
export async function groupEnds(group: number, timeoutMs: number): Promise<boolean> {
  return (await poll(() => !isGroupAlive(group), { timeoutMs })) ?? false
}

/**
 * The variables of the shell that a process of the stack inherits: how programs find what they need on this machine, and the settings
 * that are documented for it. Nothing else, for another variable may mean something to a program by chance: `PORT`, to a service.
 */
const inherited = [
  /^(PATH|HOME|TMPDIR|LANG|LC_\w+|TZ|JAVA_HOME)$/,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/,
  /^(HTTPS?|ALL|NO)_PROXY$/i,
  // Where traces go (components/configuration.yaml).
  /^OTEL_\w+$/,
  // On a machine without a network a sidecar cannot find its own address.
  /^DAPR_HOST_IP$/,
  // Settings: those of appsettings.json as Section__Key.
  /^[A-Z][A-Za-z]*__\w+$/,
]

export function inheritedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => inherited.some((allowed) => allowed.test(name))))
}

const serviceGraceMs = 10_000
const serverGraceMs = 20_000
const servers = ['kafka', 'postgresql', jaeger]

/** Holds a stack's folder, so that two commands do not start and stop at once. */
export function withStackLock<Result>(
  folder: string,
  onProgress: (line: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const onWait = (pid: number) => onProgress(`process ${pid} is starting or stopping this stack, waiting for it`)
  return withLock(join(folder, 'run/lock'), { timeoutMs: 180_000, onWait }, work)
}

/**
 * Stops what a stack's folder says it started, and nothing else: services and sidecars together, then the servers that they need.
 * Returns the names of those that ran; none on a second call.
 */
export async function stopStack(folder: string, onProgress: (line: string) => void): Promise<string[]> {
  if (!existsSync(join(folder, 'run'))) return []
  return await withStackLock(folder, onProgress, () => stopProcesses(folder, recordedNames(folder), onProgress))
}

/** Stops some processes as `stopStack` does. The caller holds the lock. */
export async function stopProcesses(
  folder: string,
  names: readonly string[],
  onProgress: (line: string) => void,
): Promise<string[]> {
  const stopped: string[] = []
  const stop = async (name: string, graceMs: number) => {
    if (!(await stopProcess(folder, name, graceMs))) return
    stopped.push(name)
    onProgress(`${name}: stopped`)
  }
  await Promise.all(names.filter((name) => !servers.includes(name)).map((name) => stop(name, serviceGraceMs)))
  await Promise.all(names.filter((name) => servers.includes(name)).map((name) => stop(name, serverGraceMs)))
  return stopped
}
