import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { repository, stackFolder } from '../../application/paths.ts'
import { withStackLock } from '../../application/stack-record.ts'
import { select } from '../../application/variables.ts'
import { attempt } from '../../base/error.ts'
import { replaceFile } from '../../base/files.ts'
import { markVariable, type ProcessEntry, readMarks, readProcessTable } from '../../base/process-table.ts'
import { poll } from '../../base/run-tool.ts'
import { brokerNames } from '../../kafka/broker.ts'
import { jaeger, logFile, observers, type ProcessName } from '../plan.ts'
import { hashOfFiles } from './files.ts'

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

/** The pid file of a process. The pid is that of the group leader, `packages/stack/launch`. */
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
  | ({ state: 'running'; pid: number; group: number } & Partial<Pick<RunRecord, 'startedAt' | 'version' | 'files'>>)
  | { state: 'crashed'; exit: string }
  | { state: 'stopped' }

const recordFile = (folder: string, name: string) => join(folder, 'run', `${name}.json`)

/** The file is also the mark of the process, so its path is absolute. */
const exitFile = (folder: string, name: string) => resolve(folder, 'run', `${name}.exit`)

function writeRecord(folder: string, { name, version }: ProcessSpec, pid: number, files: string | undefined): void {
  const startId = readProcessTable().get(pid)?.startId ?? ''
  const record: RunRecord = { pid, startId, startedAt: Date.now(), version, files }
  replaceFile(recordFile(folder, name), JSON.stringify(record))
}

function removeRecord(folder: string, name: string): void {
  for (const file of [recordFile(folder, name), exitFile(folder, name)]) rmSync(file, { force: true })
}

function readRecord(folder: string, name: string): RunRecord | undefined {
  const text = readText(recordFile(folder, name))
  return text ? (JSON.parse(text) as RunRecord) : undefined
}

/** Returns the names of processes with a record, and of those that a killed command started without a record. */
export function recordedNames(folder: string): string[] {
  const run = resolve(folder, 'run')
  const files = existsSync(run) ? readdirSync(run) : []
  const recorded = files.filter((file) => file.endsWith('.json') && file !== 'owner.json')
  const marked = [...readMarks().values()].filter((mark) => dirname(mark) === run)
  return [...new Set([...recorded, ...marked].map((file) => basename(file).replace(/\.(json|exit)$/, '')))]
}

export function processState(folder: string, name: string, table = readProcessTable()): ProcessState {
  const record = readRecord(folder, name)
  // The file may be empty, because the launcher creates it before it writes the status.
  const exit = readText(exitFile(folder, name)) || undefined
  const members = membersOf(folder, name, table)
  if (!record && members.length === 0) return { state: 'stopped' }
  const command = members.find(({ pid, group }) => pid !== group) ?? members[0]
  if (exit !== undefined || !command) return { state: 'crashed', exit: describeExit(exit) }
  const { pid, group } = command
  if (record?.pid !== group) return { state: 'running', pid, group }
  const { startedAt, version, files } = record
  return { state: 'running', pid, group, startedAt, version, files }
}

/**
 * Returns the live processes of a process of the stack. The recorded leader identifies its group: a new process with the same pid has another start id.
 * If the leader has ended, the mark decides: another program may have got the same group, and a killed command may have left no record.
 */
function membersOf(folder: string, name: string, table: Map<number, ProcessEntry>): ProcessEntry[] {
  const record = readRecord(folder, name)
  const leader = record && table.get(record.pid)
  if (leader && leader.startId === record.startId)
    return [...table.values()].filter(({ group }) => group === leader.pid)
  const marks = readMarks()
  return [...table.values()].filter(({ pid }) => marks.get(pid) === exitFile(folder, name))
}

/** Returns true if a process of the stack runs. Ignores observers, because they may start before the stack. */
export function isRunning(folder: string): boolean {
  const table = readProcessTable()
  const names = recordedNames(folder).filter((name) => !observers.includes(name))
  return names.some((name) => processState(folder, name, table).state === 'running')
}

const isGroupAlive = (group: number): boolean => [...readProcessTable().values()].some((entry) => entry.group === group)

/** A shell reports signal n as 128 + n. */
function describeExit(status: string | undefined): string {
  const code = Number(status?.trim())
  if (!status) return 'killed'
  return code > 128 ? `killed by signal ${code - 128}` : `exit code ${code}`
}

const readText = (file: string) => attempt(() => readFileSync(file, 'utf8'))

const launcher = join(stackFolder, 'launch')

/** Starts a process in a new group, which continues after this process has ended. Returns the group's id. */
export function startProcess(folder: string, spec: ProcessSpec): number {
  for (const name of ['logs', 'run']) mkdirSync(join(folder, name), { recursive: true })
  rmSync(exitFile(folder, spec.name), { force: true })
  // Before the start, so that a later change is never missed.
  const files = spec.files && hashOfFiles(spec.files)
  const log = openSync(logFile(folder, spec.name), 'a')
  const child = spawn(launcher, [exitFile(folder, spec.name), spec.command, ...spec.args], {
    cwd: repository,
    env: { ...inheritedEnvironment(process.env), ...spec.env, [markVariable]: exitFile(folder, spec.name) },
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

/** Stops a process and waits until its processes have ended. Sends SIGKILL after `graceMs`. Returns false if the process does not run. */
export async function stopProcess(folder: string, name: string, graceMs: number): Promise<boolean> {
  const { state } = processState(folder, name)
  const members = followMembers(folder, name)
  signalAll(members(), stopSignalOf(name))
  if (!(await end(members, graceMs))) {
    signalAll(members(), 'SIGKILL')
    if (!(await end(members, 5_000))) throw new Error(`${name} survives SIGKILL`)
  }
  removeRecord(folder, name)
  return state === 'running'
}

/** Returns a function that returns the live processes of a process of the stack. A process loses its mark before it ends, so known ones stay. */
function followMembers(folder: string, name: string): () => ProcessEntry[] {
  let known: ProcessEntry[] = []
  return () => {
    const table = readProcessTable()
    const left = known.filter(({ pid, startId }) => table.get(pid)?.startId === startId)
    const all = [...left, ...membersOf(folder, name, table)]
    known = [...new Map(all.map((entry) => [entry.pid, entry])).values()]
    return known
  }
}

function signalAll(members: readonly ProcessEntry[], signal: NodeJS.Signals): void {
  for (const group of new Set(members.map((member) => member.group))) signalGroup(group, signal)
}

const end = (members: () => readonly ProcessEntry[], timeoutMs: number) =>
  poll(() => members().length === 0, { timeoutMs })

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
  return select(env, (name) => inherited.test(name))
}

const serviceGraceMs = 10_000
const serverGraceMs = 20_000
const servers = [...brokerNames({ brokers: 3 }), 'postgresql', jaeger]

/** Stops the recorded processes: first services and sidecars, then servers. Returns the names of the stopped processes. */
export async function stopStack(folder: string, onProgress: (line: string) => void): Promise<string[]> {
  if (!existsSync(join(folder, 'run')) && recordedNames(folder).length === 0) return []
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
