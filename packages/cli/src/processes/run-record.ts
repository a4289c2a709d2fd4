import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../lib/files.ts'
import { type ProcessEntry, readProcessTable } from '../lib/process-table.ts'

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

/** Where `packages/cli/launch` leaves the exit status. */
export const exitFile = (folder: string, name: string) => join(folder, 'run', `${name}.exit`)

export function writeRecord(folder: string, name: string, pid: number): void {
  const startId = readProcessTable().get(pid)?.startId ?? ''
  replaceFile(recordFile(folder, name), JSON.stringify({ pid, startId, startedAt: Date.now() } satisfies RunRecord))
}

export function removeRecord(folder: string, name: string): void {
  for (const file of [recordFile(folder, name), exitFile(folder, name)]) rmSync(file, { force: true })
}

/** Names of all processes on record, those that run beside the stack's own too, such as what `make observe` starts. */
export function recordedNames(folder: string): string[] {
  const run = join(folder, 'run')
  if (!existsSync(run)) return []
  const records = readdirSync(run).filter((file) => file.endsWith('.json') && file !== 'owner.json')
  return records.map((file) => file.slice(0, -'.json'.length))
}

/** What became of a process we started. A process that merely got a recorded pid later is not ours. */
export function processState(folder: string, name: string, table = readProcessTable()): ProcessState {
  const record = read(recordFile(folder, name))
  if (!record) return { state: 'stopped' }
  const { pid, startId, startedAt } = JSON.parse(record) as RunRecord
  // Empty while its launcher is about to write it.
  const exit = read(exitFile(folder, name)) || undefined
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

/** True while the group has a live member. */
export function isGroupAlive(group: number): boolean {
  return [...readProcessTable().values()].some((entry) => entry.group === group)
}

/** A shell reports death by signal n as 128 + n. */
function describeExit(status: string | undefined): string {
  const code = Number(status?.trim())
  if (!status) return 'killed'
  return code > 128 ? `killed by signal ${code - 128}` : `exit code ${code}`
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
