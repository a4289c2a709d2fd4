import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { brokerNames } from '../kafka/broker.ts'
import { replaceFile } from '../lib/files.ts'
import { cliFolder, repository } from '../lib/paths.ts'
import { poll } from '../lib/poll.ts'
import { type ProcessEntry, readProcessTable } from '../lib/process-table.ts'
import { withStackLock } from '../lib/stack-lock.ts'
import type { ProcessName } from './plan.ts'
import { jaeger, logFile, observers } from './plan.ts'
import { hashOfFiles } from './program-files.ts'

export interface ProcessSpec {
  name: ProcessName
  command: string
  args: string[]
  /** Variables in addition to `inheritedEnvironment`. */
  env: Record<string, string>
  ports: Record<string, number>
  /** The version of the program. `make up` restarts a process of another version. */
  version?: string
  /** The files that the program reads when it starts, relative to the repository. `make up` restarts a process whose files have changed. */
  files?: readonly string[]
}

/** The pid file of a process. The pid is that of the group leader, `packages/cli/launch`. */
interface RunRecord {
  pid: number
  startId: string
  /** Milliseconds since the epoch. */
  startedAt: number
  version?: string | undefined
  /** The hash of the files that the process has read. */
  files?: string | undefined
}

type ProcessState =
  | ({ state: 'running'; pid: number; group: number } & Pick<RunRecord, 'startedAt' | 'version' | 'files'>)
  | { state: 'crashed'; exit: string }
  | { state: 'stopped' }

const recordFile = (folder: string, name: string) => join(folder, 'run', `${name}.json`)

const exitFile = (folder: string, name: string) => join(folder, 'run', `${name}.exit`)

function writeRecord(folder: string, { name, version }: ProcessSpec, pid: number, files: string | undefined): void {
  const startId = readProcessTable().get(pid)?.startId ?? ''
  const record: RunRecord = { pid, startId, startedAt: Date.now(), version, files }
  replaceFile(recordFile(folder, name), JSON.stringify(record))
}

function removeRecord(folder: string, name: string): void {
  for (const file of [recordFile(folder, name), exitFile(folder, name)]) rmSync(file, { force: true })
}

export function recordedNames(folder: string): string[] {
  const run = join(folder, 'run')
  if (!existsSync(run)) return []
  const records = readdirSync(run).filter((file) => file.endsWith('.json') && file !== 'owner.json')
  return records.map((file) => file.slice(0, -'.json'.length))
}

/** Compares the start id, because a new process may have the same pid. */
export function processState(folder: string, name: string, table = readProcessTable()): ProcessState {
  const record = readText(recordFile(folder, name))
  if (!record) return { state: 'stopped' }
  const { pid, startId, startedAt, version, files } = JSON.parse(record) as RunRecord
  // The file may be empty, because the launcher creates it before it writes the status.
  const exit = readText(exitFile(folder, name)) || undefined
  const members = groupMembers(pid, startId, table)
  if (exit !== undefined || members.length === 0) return { state: 'crashed', exit: describeExit(exit) }
  const command = members.find((member) => member.pid !== pid) ?? members[0]
  return { state: 'running', pid: command?.pid ?? pid, group: pid, startedAt, version, files }
}

/** Returns the group's live members. If the leader has another start id, the group has ended. */
function groupMembers(group: number, startId: string, table: Map<number, ProcessEntry>): ProcessEntry[] {
  const leader = table.get(group)
  if (leader && leader.startId !== startId) return []
  return [...table.values()].filter((entry) => entry.group === group)
}

/** Returns true if a process of the stack runs. Ignores observers, because they may start before the stack. */
export function isRunning(folder: string): boolean {
  const table = readProcessTable()
  const names = recordedNames(folder).filter((name) => !observers.includes(name))
  return names.some((name) => processState(folder, name, table).state === 'running')
}

function isGroupAlive(group: number): boolean {
  return [...readProcessTable().values()].some((entry) => entry.group === group)
}

/** A shell reports signal n as 128 + n. */
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

const launcher = join(cliFolder, 'launch')

/** Starts a process in a new group, which continues after this process has ended. Returns the group's id. */
export function startProcess(folder: string, spec: ProcessSpec): number {
  for (const name of ['logs', 'run']) mkdirSync(join(folder, name), { recursive: true })
  rmSync(exitFile(folder, spec.name), { force: true })
  // Before the start, so that a later change is never missed.
  const files = spec.files && hashOfFiles(spec.files)
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
    writeRecord(folder, spec, child.pid, files)
  } catch (error) {
    // Kills the process, because commands can stop only processes that are recorded.
    signalGroup(child.pid, 'SIGKILL')
    throw error
  }
  return child.pid
}

/** Signals that replace SIGTERM. At SIGTERM, PostgreSQL would wait for its last client. Jaeger would need 18 seconds, and has nothing to save. */
const stopSignals: Record<string, NodeJS.Signals> = { postgresql: 'SIGINT', jaeger: 'SIGKILL' }
const stopSignalOf = (name: string) => stopSignals[name] ?? 'SIGTERM'

/** Stops a process and waits until its group has ended. Sends SIGKILL after `graceMs`. Returns false if the process does not run. */
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

export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export async function groupEnds(group: number, timeoutMs: number): Promise<boolean> {
  return (await poll(() => !isGroupAlive(group), { timeoutMs })) ?? false
}

/**
 * The variables that processes inherit from the shell of a command. Other variables could change a program by accident: `PORT` would change the port
 * of a service. The settings of a stack are part of its plan, because the shell of a later command may lack them.
 */
const inherited = /^(PATH|HOME|TMPDIR|LANG|LC_\w+|TZ|JAVA_HOME)$/

export function inheritedEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => inherited.test(name)))
}

const serviceGraceMs = 10_000
const serverGraceMs = 20_000
const servers = [...brokerNames({ brokers: 3 }), 'postgresql', jaeger]

/** Stops the recorded processes: first services and sidecars, then servers. Returns the names of the stopped processes. */
export async function stopStack(folder: string, onProgress: (line: string) => void): Promise<string[]> {
  if (!existsSync(join(folder, 'run'))) return []
  return await withStackLock(folder, onProgress, () => stopProcesses(folder, recordedNames(folder), onProgress))
}

/** Stops processes. The caller must hold the stack's lock. */
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
