import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, replaceFile } from '../base/files.ts'
import { withLock } from '../base/lock.ts'

/**
 * The properties with which a stack was started. Later commands read them here, because their shell may have other variables, and a lost disk removes
 * folders with data.
 */
interface StackRecord {
  /** The value of STACK. */
  runner?: string
  portOffset?: number
  /** The servers of a stack of processes. */
  store?: string
  brokers?: number
  /** The variables of services and sidecars that run as processes (variables.ts). */
  variables?: Record<string, string>
  /** The Kafka of a stack of processes. The field is missing until the first broker is formatted. */
  cluster?: KafkaCluster
  /** The Kafka of a Compose project, with the volumes that have had a log. `.env` has the other properties of containers. */
  containers?: { project: string; brokers: number; volumes: string[] }
}

export interface KafkaCluster {
  clusterId: string
  /** The id of each broker's first log folder, by name. The first controllers know each other by these ids (KIP-853). */
  directories: Record<string, string>
  /** The brokers that have had a log folder. If such a folder is missing, its disk was lost. */
  formatted: string[]
}

/** The file is next to the folder with data, and only its owner can read it: variables may contain secrets. */
const recordFile = (folder: string) => join(folder, 'stack.json')

/** Returns an empty record before the first start. */
export function readStack(folder: string): StackRecord {
  const file = recordFile(folder)
  return existsSync(file) ? readJson(file, ', which records how the stack was started') : {}
}

/** Changes fields of the record. The value undefined removes a field. */
export function changeStack(
  folder: string,
  changes: { [Field in keyof StackRecord]: StackRecord[Field] | undefined },
): void {
  const before = JSON.stringify(readStack(folder))
  const after = { ...JSON.parse(before), ...changes }
  if (JSON.stringify(after) !== before) replaceFile(recordFile(folder), `${JSON.stringify(after, null, 2)}\n`, 0o600)
}

export function removeStack(folder: string): void {
  rmSync(recordFile(folder), { force: true })
}

/** The lock that the current work holds. Work that continues after the release does not hold it any more. */
const current = new AsyncLocalStorage<{ folder: string; isHeld: boolean }>()

/**
 * Runs `work` while no other command starts or stops the stack, or writes a whole log to its Kafka. A command that holds the lock may call functions
 * that take it, too.
 */
export async function withStackLock<Result>(
  folder: string,
  onProgress: (line: string) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const outer = current.getStore()
  if (outer?.isHeld && outer.folder === folder) return await work()
  const onWait = (pid: number) => onProgress(`waiting for process ${pid}, which starts, stops or restores this stack`)
  return await withLock(join(folder, 'run/lock'), { timeoutMs: 180_000, onWait }, async () => {
    const lock = { folder, isHeld: true }
    try {
      return await current.run(lock, work)
    } finally {
      lock.isHeld = false
    }
  })
}
