import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Addresses, addressAt } from '../kafka/connection.ts'
import { CliError } from '../lib/error.ts'
import { localFolder, repository } from '../lib/paths.ts'
import { localPorts, type StackPorts } from '../lib/ports.ts'
import { runTool } from '../lib/run-tool.ts'
import { entryOf, ofServices, services } from '../lib/services.ts'
import { withStackLock } from '../lib/stack-lock.ts'
import { changeStack, readStack } from '../lib/stack-record.ts'
import { chooseVariables, givenSettings } from '../lib/variables.ts'
import { provision } from '../provision/provision.ts'
import type { ProgressOptions } from '../runner.ts'
import { ensureRunning, restartOutdated, stopChanged } from './ensure.ts'
import { observerNames } from './observers.ts'
import { writePatientComponents } from './patient-components.ts'
import {
  createPlan,
  kafkaOf,
  type Plan,
  type ProcessName,
  processNamesWith,
  type Servers,
  type StackTokens,
  serverNames,
  serversOf,
} from './plan.ts'
import {
  groupEnds,
  isRunning,
  processState,
  recordedNames,
  signalGroup,
  stopProcess,
  stopProcesses,
  stopStack,
} from './process-control.ts'
import { rebuildStores } from './rebuild.ts'
import { claimFolder, releaseFolder } from './test-owner.ts'

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
  const declared = [...processNamesWith({ store: 'postgresql', brokers: 3 }), ...observerNames]
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

/** The private listeners of a service: the channel, which the sidecar calls, and the sidecar's API. */
type InnerListener = 'channel' | 'sidecar'

export interface InnerRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
}

export interface RunningStack extends Addresses {
  /** The certificate of https addresses, as PEM. */
  certificate: string
  tokens: StackTokens
  /** The keys with which services sign events. Empty if services do not sign events. */
  signingKeys: string
  askInside: (
    service: string,
    listener: InnerListener,
    path: string,
    request?: InnerRequest,
  ) => Promise<{ status: number; body: string }>
  /** Sends SIGKILL or another signal to a part. After SIGKILL and SIGTERM, waits until the part has ended. */
  kill: (name: string, signal?: NodeJS.Signals) => Promise<void>
  restart: (name: string) => Promise<void>
  stop: () => Promise<void>
}

export interface LocalStack extends RunningStack {
  folder: string
  plan: Plan
}

const goneTimeoutMs = 20_000
const restartGraceMs = 10_000

export function runningStack(plan: Plan, detached: boolean): LocalStack {
  const { folder, ports, tokens, certificate } = plan
  return {
    services: ofServices(({ name }) => addressAt('127.0.0.1', entryOf(ports.services, name))),
    kafka: kafkaOf(plan),
    certificate: readFileSync(certificate.certificate, 'utf8'),
    folder,
    plan,
    tokens,
    signingKeys: plan.variables.Trust__SigningKeys ?? '',
    askInside: async (service, listener, path, request) => {
      const { channel, daprHttp } = entryOf(ports.services, service)
      const port = listener === 'channel' ? channel : daprHttp
      const response = await fetch(`http://127.0.0.1:${port}${path}`, request)
      return { status: response.status, body: await response.text() }
    },
    kill: (name, signal = 'SIGKILL') => killProcess(folder, name, signal),
    restart: async (name) => {
      await stopProcess(folder, name, restartGraceMs)
      await ensureRunning(plan, [name], { onProgress: () => {} })
    },
    stop: async () => {
      if (detached) await stopStack(folder, () => {})
      else await releaseFolder(folder)
    },
  }
}

async function killProcess(folder: string, name: ProcessName, signal: NodeJS.Signals): Promise<void> {
  const state = processState(folder, name)
  if (state.state !== 'running') throw new Error(`${name} does not run`)
  signalGroup(state.group, signal)
  if (signal !== 'SIGKILL' && signal !== 'SIGTERM') return
  if (!(await groupEnds(state.group, goneTimeoutMs))) throw new Error(`${name} survives ${signal}`)
}

/** Bundles pages whose sources are newer than the bundle. */
export async function buildPages(signal: AbortSignal | undefined): Promise<void> {
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
