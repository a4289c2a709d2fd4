import { CliError } from '../lib/error.ts'
import { poll } from '../lib/poll.ts'
import { readProcessTable } from '../lib/process-table.ts'
import { fullDiskOf, logTail } from './logs.ts'
import { logFile } from './plan.ts'
import { processState } from './process-control.ts'

interface WaitOptions {
  folder: string
  /** Their death ends the wait. */
  processes: readonly string[]
  timeoutMs: number
  everyMs?: number
  signal?: AbortSignal | undefined
}

/** A look at all processes costs more than most questions. */
const lookEveryMs = 200

/**
 * Asks `probe` until it returns undefined; a string says what is missing still.
 * @throws {CliError} `process-died` with the exit and the last lines of the log as soon as one of the processes dies,
 *   `not-ready` with the last answer after `timeoutMs`, `interrupted` when the signal aborts
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

/**
 * @throws {CliError} `process-died` with the exit and the last lines of the log of the first process that does not run
 */
export function requireAlive({ folder, processes }: Pick<WaitOptions, 'folder' | 'processes'>): void {
  const table = readProcessTable()
  for (const name of processes) {
    const state = processState(folder, name, table)
    if (state.state === 'running') continue
    const exit = state.state === 'crashed' ? state.exit : 'stopped'
    const disk = fullDiskOf(folder, name)
    const room = disk ? `no space is left on the disk of ${disk}: free some, then make up; or ` : ''
    throw new CliError('process-died', `${name} ended (${exit}); its last lines:\n${logTail(folder, name, 15)}`, {
      nextStep: `${room}make logs SERVICE=${name} (the file is ${logFile(folder, name)})`,
    })
  }
}
