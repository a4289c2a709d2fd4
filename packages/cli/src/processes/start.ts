import { resolve } from 'node:path'
import { StackError } from '../lib/error.ts'
import { localFolder } from '../lib/paths.ts'
import { localPorts, type StackPorts } from '../lib/ports.ts'
import { provision } from '../provision/provision.ts'
import { ensureRunning } from './ensure.ts'
import { buildPages } from './page.ts'
import { createPlan, type LocalStore, type Plan, type ProcessName, processNamesWith, storeOf } from './plan.ts'
import { processState } from './run-record.ts'
import { type LocalStack, runningStack } from './running-stack.ts'
import { stopProcesses, withStackLock } from './stop.ts'
import { claimFolder } from './test-owner.ts'

interface StartOptions {
  /** The stack's own folder; that of `make up` when left out. Not detached: emptied first. */
  folder?: string
  /** Those of `make up` when left out; `await freePorts()` for a stack beside it. */
  ports?: StackPorts
  /** That of the folder's last start when left out; SQLite for the first. */
  store?: LocalStore | undefined
  /** True (as for `make up`): the processes go on when this one ends. False (tests): they end with it. */
  detached?: boolean
  onProgress?: (line: string) => void
  /** Aborting stops what this call started. */
  signal?: AbortSignal
}

/**
 * Provisions and starts what does not run yet and waits until all services are ready, and those that consume really do.
 * When it fails, what it started is stopped again; logs stay.
 * @throws {StackError} saying what is missing, in use, dead or late, and the next step
 */
export async function startStack(options: StartOptions = {}): Promise<LocalStack> {
  const { ports = localPorts(), detached = true, onProgress = () => {}, signal } = options
  const folder = resolve(options.folder ?? localFolder)
  if (!detached) await claimFolder(folder)
  const { store = storeOf(folder) } = options
  await provision({ store, onProgress, signal })
  await buildPages(signal)
  return await withStackLock(folder, onProgress, async () => {
    const plan = await createPlan(folder, ports, store)
    reportState(plan, onProgress)
    const started: ProcessName[] = []
    try {
      await ensureRunning(plan, processNamesWith(store), {
        onProgress,
        signal,
        onStarted: (name) => started.push(name),
      })
    } catch (error) {
      // What died stays on record, for make status to tell.
      const alive = started.filter((name) => processState(folder, name).state === 'running')
      await stopProcesses(folder, alive, onProgress)
      throw signal?.aborted ? new StackError('interrupted', 'interrupted', { cause: error }) : error
    }
    return runningStack(plan, detached)
  })
}

function reportState({ folder, store }: Plan, onProgress: (line: string) => void): void {
  const states = processNamesWith(store).map((name) => ({ name, ...processState(folder, name) }))
  const running = states.filter(({ state }) => state === 'running').map(({ name }) => name)
  if (running.length > 0) onProgress(`${running.join(', ')}: running already`)
  for (const entry of states) {
    if (entry.state === 'crashed') onProgress(`${entry.name}: had crashed (${entry.exit}), starting it again`)
  }
}
