import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '../lib/lock.ts'
import { stopProcess } from './process-control.ts'
import { recordedNames } from './run-record.ts'
import { jaeger } from './trace-variables.ts'

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

/** As `stopStack`, for some of its processes and by one who holds the lock. */
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
