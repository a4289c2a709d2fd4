import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { localFolder, repository } from '../application/paths.ts'
import { localPorts, type StackPorts, services, sidecarOf } from '../application/services.ts'
import { changeStack, readStack, withStackLock } from '../application/stack-record.ts'
import { chooseVariables, givenSettings } from '../application/variables.ts'
import { CliError } from '../base/error.ts'
import { runTool } from '../base/run-tool.ts'
import { provision } from '../provision/provision.ts'
import type { ProgressOptions } from '../runner.ts'
import { ensureRunning, restartOutdated, stopChanged } from './ensure.ts'
import {
  createPlan,
  jaeger,
  observers,
  type Plan,
  type ProcessName,
  processNamesWith,
  requireOwnSettings,
  type Servers,
  serverNames,
  serversOf,
} from './plan.ts'
import { writePatientComponents } from './process/components.ts'
import { isRunning, processState, recordedNames, stopProcesses } from './process/control.ts'
import { rebuildStores } from './rebuild.ts'
import { type LocalStack, runningStack } from './running-stack.ts'
import { startJaeger, startPrometheus } from './servers/observers.ts'
import { claimFolder } from './test-owner.ts'

interface StartOptions {
  /** The default is the folder of `make up`. A test's stack empties the folder before it starts. */
  folder?: string
  /** The default is the ports of `make up`. Use `await freePorts()` for a second stack. */
  ports?: StackPorts
  /** The default is the servers of the folder's last start, or SQLite and one broker. */
  servers?: Partial<Servers>
  /** The names of the services to which a debugger can attach. By default none. */
  inspected?: readonly string[]
  /** True to rebuild all stores from the log before services start. */
  rebuild?: boolean
  /** True if the processes continue after this process (`make up`). False if they end with it (tests). */
  detached?: boolean
  onProgress?: (line: string) => void
  signal?: AbortSignal
}

/**
 * Starts a stack, and waits until all services are ready and all consumer groups consume. After a failure it stops the started processes;
 * logs stay. The stack remembers the settings of this shell.
 * @throws {CliError} for a missing tool, a port in use, a dead process or a timeout; `still-running` if the shell has other settings than the running
 * stack
 */
export async function startStack(options: StartOptions = {}): Promise<LocalStack> {
  const { ports = localPorts(), detached = true, rebuild = false, inspected, onProgress = () => {}, signal } = options
  const folder = resolve(options.folder ?? localFolder)
  if (!detached) await claimFolder(folder)
  const servers = { ...serversOf(folder), ...options.servers }
  await provision({ store: servers.store, onProgress, signal })
  await buildPages(signal)
  return await withStackLock(folder, onProgress, async () => {
    const wasRunning = isRunning(folder)
    const before = readStack(folder).variables
    const plan = withSettings(await createPlan(folder, ports, servers, inspected))
    if (plan.inspected.length > 0) writePatientComponents(folder)
    reportState(plan, onProgress)
    const started: ProcessName[] = []
    const ensure = { onProgress, signal, onStarted: (name: ProcessName) => started.push(name) }
    try {
      await stopUndeclared(folder, onProgress)
      await restartOutdated(plan, ensure)
      await stopChanged(plan, ensure)
      if (rebuild) await rebuildStores(plan, ensure)
      await ensureRunning(plan, processNamesWith(plan), ensure)
    } catch (error) {
      // Keeps the records of dead processes, which `make status` shows.
      const alive = started.filter((name) => processState(folder, name).state === 'running')
      await stopProcesses(folder, alive, onProgress)
      // The settings may be the reason of the failure.
      if (!wasRunning) changeStack(folder, { variables: before })
      throw signal?.aborted ? new CliError('interrupted', 'interrupted', { cause: error }) : error
    }
    return runningStack(plan, detached)
  })
}

/** Starts the observers first if `observed` is true, so that all processes send traces. */
export async function startObserved({
  observed,
  ...options
}: ProgressOptions & { servers: Servers; observed: boolean; rebuild: boolean }): Promise<void> {
  if (observed) await startObservers(options)
  await startStack(options)
}

/** Starts the observers. Stops services and sidecars that run without traces, so that the caller starts them again with traces. */
async function startObservers(options: ProgressOptions): Promise<void> {
  const { onProgress } = options
  const ports = localPorts()
  await withStackLock(localFolder, onProgress, async () => {
    if (isRunning(localFolder)) requireOwnSettings()
    const isTraced = processState(localFolder, jaeger).state === 'running'
    await startJaeger(localFolder, ports, options)
    await startPrometheus(localFolder, ports, options)
    const untraced = services.flatMap((service) => [service.name, sidecarOf(service)])
    if (!isTraced) await stopProcesses(localFolder, untraced, onProgress)
  })
  onProgress('Grafana has no package for processes: import components/observe/dashboard.json into your own Grafana')
}

/** Starts Kafka and the database, and creates the topics. Services stay stopped. */
export async function startServers({
  servers,
  onProgress,
  signal,
}: ProgressOptions & { servers: Servers }): Promise<void> {
  await provision({ store: servers.store, onProgress, signal })
  await withStackLock(localFolder, onProgress, async () => {
    const plan = withSettings(await createPlan(localFolder, localPorts(), servers))
    await ensureRunning(plan, serverNames(plan), { onProgress, signal })
  })
}

/** Adds the settings of this shell to the plan of a start. A stack without a record was started by version 0.2.0. */
function withSettings(plan: Plan): Plan {
  const { variables } = readStack(plan.folder)
  const keepsThem = variables !== undefined && isRunning(plan.folder)
  return { ...plan, variables: chooseVariables(variables ?? {}, process.env, keepsThem) }
}

/** Stops the processes of services that services.json no longer has. The caller must hold the stack's lock. */
export async function stopUndeclared(folder: string, onProgress: (line: string) => void): Promise<void> {
  const declared = [...processNamesWith({ store: 'postgresql', brokers: 3 }), ...observers]
  const others = recordedNames(folder).filter((name) => !declared.includes(name))
  if (others.length > 0) onProgress(`${others.join(', ')}: stopping, because services.json has no such service`)
  await stopProcesses(folder, others, onProgress)
}

function reportState(plan: Plan, onProgress: (line: string) => void): void {
  const { folder } = plan
  const states = processNamesWith(plan).map((name) => ({ name, ...processState(folder, name) }))
  const kept = Object.keys(givenSettings(plan.variables)).filter((name) => process.env[name] === undefined)
  if (kept.length > 0) onProgress(`settings of an earlier start: ${kept.join(', ')}`)
  const running = states.filter(({ state }) => state === 'running').map(({ name }) => name)
  if (running.length > 0) onProgress(`${running.join(', ')}: already running`)
  for (const entry of states) {
    if (entry.state === 'crashed') onProgress(`${entry.name}: crashed (${entry.exit}), starting it again`)
  }
}

/** Bundles pages whose sources are newer than the bundle. */
async function buildPages(signal: AbortSignal | undefined): Promise<void> {
  const folders = services
    .map(({ folder }) => join(repository, folder))
    .filter((each) => existsSync(join(each, 'page/build.ts')))
  const stale = folders.filter(isStale)
  await Promise.all(stale.map((cwd) => runTool(process.execPath, ['page/build.ts'], { cwd, signal })))
}

function isStale(folder: string): boolean {
  const made = join(folder, 'dist/manifest.json')
  if (!existsSync(made)) return true
  const { mtimeMs } = statSync(made)
  const parts = ['page', 'src/api'].flatMap((part) => {
    return readdirSync(join(folder, part), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, part, name),
    )
  })
  return [...parts, join(repository, 'package-lock.json')].some((file) => statSync(file).mtimeMs > mtimeMs)
}
