import { CliError } from '../../base/error.ts'
import { readProcessTable } from '../../base/process-table.ts'
import { poll } from '../../base/run-tool.ts'
import { fullDiskOf, logTail } from '../logs.ts'
import { logFile } from '../plan.ts'
import { processState } from './control.ts'

interface WaitOptions {
  folder: string
  /** The processes that must run during the wait. The wait fails if one of these processes ends. */
  processes: readonly string[]
  timeoutMs: number
  everyMs?: number
  signal?: AbortSignal | undefined
}

const lookEveryMs = 200

/**
 * Calls `probe` until it returns undefined. A returned string is the condition that is not met yet.
 * @throws {CliError} `process-died` with the exit status and last log lines; `not-ready` with the last condition after `timeoutMs`; `interrupted`
 */
export async function waitUntil(
  what: string,
  options: WaitOptions,
  probe: () => Promise<string | undefined>,
): Promise<void> {
  const { timeoutMs, everyMs = 50, signal, folder, processes } = options
  let missing: string | undefined
  let lookedAt = 0
  const isReady = async () => {
    if (Date.now() - lookedAt > lookEveryMs) {
      requireAlive(options)
      lookedAt = Date.now()
    }
    missing = await probe()
    return missing === undefined
  }
  if (await poll(isReady, { timeoutMs, everyMs, signal })) return
  throw new CliError('not-ready', `${what} is not ready after ${timeoutMs / 1000} s: ${missing}`, {
    nextStep: `read ${processes.map((name) => logFile(folder, name)).join(', ')}`,
  })
}

/** @throws {CliError} `process-died` with the exit status and last log lines of the first process that does not run */
export function requireAlive({ folder, processes }: Pick<WaitOptions, 'folder' | 'processes'>): void {
  const table = readProcessTable()
  for (const name of processes) {
    const state = processState(folder, name, table)
    if (state.state === 'running') continue
    const exit = state.state === 'crashed' ? state.exit : 'stopped'
    const disk = fullDiskOf(folder, name)
    const room = disk ? `free space on the full disk of ${disk}, then run make up; or ` : ''
    throw new CliError('process-died', `${name} ended (${exit}); its last lines:\n${logTail(folder, name, 15)}`, {
      nextStep: `${room}make logs SERVICE=${name} (the file is ${logFile(folder, name)})`,
    })
  }
}
