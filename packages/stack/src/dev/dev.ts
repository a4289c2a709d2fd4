import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { requireFreePorts } from '../application/free-ports.ts'
import { localFolder } from '../application/paths.ts'
import { entryOf, localPorts, serviceNamed, services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { withLock } from '../base/lock.ts'
import { print as printLine } from '../base/terminal.ts'
import { asProcesses } from '../processes/as-processes.ts'
import { prefixesOf, printTail } from '../processes/logs.ts'
import { createPlan, logFile, type Servers, serversFrom } from '../processes/plan.ts'
import { processState, recordedNames } from '../processes/process/control.ts'
import { processSpecs } from '../processes/process/spec.ts'
import { startStack } from '../processes/up.ts'
import type { ProgressOptions } from '../runner.ts'
import { runningRunner } from '../runners.ts'
import { chooseServers } from '../start.ts'
import { watchChanges } from './changes.ts'
import { readableLines } from './log-lines.ts'
import { createHandler, createRestarts } from './restarts.ts'
import { watchTypes } from './types.ts'

interface DevOptions extends ProgressOptions {
  /** The names of the services to restart when their code changes. */
  names: readonly string[]
  /** True to open an inspector in each of these services. */
  inspected: boolean
}

interface StartOptions extends DevOptions {
  servers: Servers
  /** True to rebuild all stores from the log before services start. */
  rebuild: boolean
}

/** The interval at which services are checked, in milliseconds. */
const checkEveryMs = 500

/**
 * Starts the stack, and restarts services when their code changes, until `signal` aborts.
 * @param asked without names, all services are restarted
 * @throws {CliError} `usage` for an unknown service or another runner; `still-running` if another runner or `make dev` runs; `port-in-use`;
 * `not-running` if another command stops a service
 */
export async function dev(env: NodeJS.ProcessEnv, asked: DevOptions): Promise<void> {
  const named = asked.names.map((name) => serviceNamed(name).name)
  const { name: local } = asProcesses
  if (env.STACK && env.STACK !== local) {
    throw new CliError('usage', `make dev runs the stack as processes, but STACK=${env.STACK}`, {
      nextStep: `leave STACK out, or set STACK=${local}`,
    })
  }
  const running = await runningRunner()
  if (running && running !== asProcesses) {
    throw new CliError('still-running', `make dev needs a stack of processes, but a stack runs ${running.title}`, {
      nextStep: 'make down, then make dev',
    })
  }
  const { servers, needsRebuild: rebuild } = await chooseServers({ ...env, STACK: local }, asked)
  const names = named.length > 0 ? [...new Set(named)] : services.map(({ name }) => name)
  const onWait = (pid: number) => {
    throw new CliError('still-running', `make dev already runs (process ${pid})`, { nextStep: 'end it with Ctrl-C' })
  }
  await withLock(join(localFolder, 'run/dev.lock'), { timeoutMs: 1_000, onWait }, () =>
    start({ ...asked, names, servers: serversFrom(servers), rebuild }),
  )
}

async function start({ names, inspected, servers, rebuild, onProgress, signal }: StartOptions): Promise<void> {
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
    printTail(logFile(localFolder, name), {
      prefix: prefixOf(name),
      linesOf: readableLines,
      lines: 0,
      follow: true,
      signal: either,
    }),
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
