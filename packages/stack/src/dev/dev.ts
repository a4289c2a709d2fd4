import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CliError } from '../lib/error.ts'
import { requireFreePorts } from '../lib/free-ports.ts'
import { withLock } from '../lib/lock.ts'
import { localFolder } from '../lib/paths.ts'
import { localPorts } from '../lib/ports.ts'
import { entryOf } from '../lib/services.ts'
import { print as printLine } from '../lib/terminal.ts'
import { followLog, prefixesOf } from '../processes/logs.ts'
import { createPlan, type Servers } from '../processes/plan.ts'
import { processState, recordedNames } from '../processes/process-control.ts'
import { processSpecs } from '../processes/process-spec.ts'
import { startStack } from '../processes/start.ts'
import type { ProgressOptions } from '../runner.ts'
import { watchChanges } from './changes.ts'
import { createHandler } from './handler.ts'
import { readableLines } from './log-lines.ts'
import { createRestarts } from './restarts.ts'
import { watchTypes } from './types.ts'

export interface DevOptions extends ProgressOptions {
  /** The names of the services to restart when their code changes. */
  names: readonly string[]
  /** True to open an inspector in each of these services. */
  inspected: boolean
  servers: Servers
  /** True to rebuild all stores from the log before services start. */
  rebuild: boolean
}

/** The interval at which services are checked, in milliseconds. */
const checkEveryMs = 500

/**
 * Starts the stack, and restarts services when their code changes, until `signal` aborts.
 * @throws {CliError} `still-running` if another `make dev` runs, `port-in-use`, `not-running` if another command stops a service
 */
export async function dev(options: DevOptions): Promise<void> {
  const onWait = (pid: number) => {
    throw new CliError('still-running', `make dev already runs (process ${pid})`, { nextStep: 'end it with Ctrl-C' })
  }
  await withLock(join(localFolder, 'run/dev.lock'), { timeoutMs: 1_000, onWait }, () => start(options))
}

async function start({ names, inspected, servers, rebuild, onProgress, signal }: DevOptions): Promise<void> {
  const inspectors = inspected ? names : []
  const plan = await createPlan(localFolder, localPorts(), servers, inspectors)
  const specs = processSpecs(plan)
  const isOpen = (name: string) => {
    const state = processState(localFolder, name)
    return state.state === 'running' && state.version === entryOf(specs, name).version
  }
  await requireFreePorts(
    inspectors
      .filter((name) => !isOpen(name))
      .map((name) => ({ port: entryOf(plan.ports.inspectors, name), use: `${name} inspector` })),
  )
  const { plan: started } = await startStack({ servers, rebuild, inspected: inspectors, onProgress, signal })

  const prefixOf = prefixesOf(['dev', ...names, 'types'])
  const say = (name: string) => (line: string) => printLine(`${prefixOf(name)} ${line}`)
  const print = say('dev')
  for (const name of inspectors)
    print(`${name}: a debugger can attach to 127.0.0.1:${entryOf(plan.ports.inspectors, name)}`)

  const ending = new AbortController()
  const either = AbortSignal.any([signal, ending.signal])
  process.stdout.once('error', () => ending.abort())
  const restarts = createRestarts(started, names, print, either)
  const handle = createHandler(restarts, print, either)
  const logs = names.map((name) =>
    followLog(localFolder, name, { prefix: prefixOf(name), linesOf: readableLines, signal: either }),
  )
  const types = watchTypes(say('types'), either)
  try {
    await watchChanges(names, handle.changes, either)
    print(`watching ${names.join(', ')}; Ctrl-C ends make dev`)
    while (!either.aborted) {
      await handle.check()
      await delay(checkEveryMs, undefined, { signal: either }).catch(() => {})
    }
  } finally {
    ending.abort()
    await Promise.all([...logs, types])
  }
  const running = recordedNames(localFolder).filter((name) => processState(localFolder, name).state === 'running')
  printLine(`\nmake dev has ended. These parts still run: ${running.join(', ')}`)
  printLine(`next: make down stops them${inspected ? ', and make up restarts the services without inspectors' : ''}`)
}
