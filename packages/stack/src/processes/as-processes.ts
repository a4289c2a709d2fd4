import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Brokers, brokerNames } from '../kafka/broker.ts'
import { addressAt } from '../kafka/connection.ts'
import { localFolder, repository } from '../lib/paths.ts'
import { localPorts } from '../lib/ports.ts'
import { runInTerminal } from '../lib/run-tool.ts'
import {
  entryOf,
  ofServices,
  operateProgram,
  type Service,
  services,
  sidecarOf,
  storedServices,
} from '../lib/services.ts'
import { withStackLock } from '../lib/stack-lock.ts'
import { readStack } from '../lib/stack-record.ts'
import { givenSettings, requireSameVariables, withoutVariables } from '../lib/variables.ts'
import type { ProgressOptions, Reached, Readiness, Runner, ServiceProbe, StackStatus, UpOptions } from '../runner.ts'
import { restartProcesses } from './ensure.ts'
import { showLogs } from './logs.ts'
import { startJaeger, startPrometheus } from './observers.ts'
import {
  createPlan,
  databaseFile,
  databaseFolder,
  dataFolder,
  jaeger,
  kafkaOf,
  type LocalStore,
  type Plan,
  type ProcessName,
  processNamesWith,
  type Servers,
  serversOf,
} from './plan.ts'
import { isRunning, processState, recordedNames, stopProcesses, stopStack } from './process-control.ts'
import { askVariables, processSpecs } from './process-spec.ts'
import { startServers, startStack } from './start.ts'
import { formatStatus, requireUp, stackStatus } from './status.ts'

const readyTimeoutMs = 5_000

export const processRunner: Runner = {
  name: 'local',
  title: 'as processes',
  stores: ['sqlite', 'postgresql'],
  surroundings: 'processes',
  brokerCounts: [1, 3],
  missing: async () => undefined,
  state: async () => (stackStatus(localFolder).some((row) => row.state === 'running') ? 'running' : 'absent'),
  lastStore: () => serversOf(localFolder).store,
  lastBrokers: async () => {
    // Version 0.2.0, whose Kafka had one broker, kept no record.
    const hasLog = readStack(localFolder).cluster ?? existsSync(join(dataFolder(localFolder), 'kafka'))
    return hasLog ? serversOf(localFolder).brokers : undefined
  },
  dataOf: async (store) => {
    const files = storedServices.map((service) => databaseFile(localFolder, service))
    const paths = (store === 'sqlite' ? files : [databaseFolder(localFolder)]).filter((path) => existsSync(path))
    return paths.map((path) => relative(repository, path)).join(', ') || undefined
  },
  up: async ({ observed, store, brokers, ...options }) => {
    if (observed) await startObservers(options)
    await startStack({ servers: serversFrom({ store, brokers }), ...options })
    return reach()
  },
  startKafka: async ({ store, brokers, ...options }) => {
    await startServers({ servers: serversFrom({ store, brokers }), ...options })
    return reach().kafka
  },
  down: async (onProgress) => (await stopStack(localFolder, onProgress)).length > 0,
  clean: async () => {
    // The caller holds the lock in the folder `run`, so this folder stays.
    const run = join(localFolder, 'run')
    const records = existsSync(run) ? readdirSync(run).filter((name) => !name.startsWith('lock')) : []
    const folders = ['data', 'logs'].map((name) => join(localFolder, name)).filter((folder) => existsSync(folder))
    for (const path of [...folders, ...records.map((name) => join(run, name))]) rmSync(path, { recursive: true })
    return records.length > 0 ? [...folders, run] : folders
  },
  restart,
  status: async () => status(),
  runningServices: async () => runningServices(),
  logNames: async () => presentNames(),
  logs: (names, options) => showLogs(localFolder, names, options),
  reach,
  requireRunning: async () => requireUp(localFolder),
  requireKafka: async () => requireBroker(),
  operate: async (service, args) => {
    requireBroker()
    requireUp(localFolder, [sidecarOf(service)])
    return await operateHere(service, args)
  },
  streamVariables: async () => undefined,
}

/** The caller has checked that this runner supports both. */
export function serversFrom({ store, brokers }: Pick<UpOptions, 'store' | 'brokers'>): Servers {
  return { store: store as LocalStore, brokers: brokers as Brokers }
}

function requireBroker(): void {
  const all = brokerNames(serversOf(localFolder))
  const running = all.filter((name) => processState(localFolder, name).state === 'running')
  requireUp(localFolder, running.length > 0 ? running : all)
}

function reach(): Reached {
  const ports = localPorts()
  // When Kafka runs as a process, it does not authenticate its clients.
  const kafka = kafkaOf({ ports, ...serversOf(localFolder) })
  return {
    services: ofServices(({ name }) => addressAt('localhost', entryOf(ports.services, name))),
    kafka,
    publisher: kafka,
    observers: { jaeger: ports.jaeger, prometheus: ports.prometheus, grafana: undefined },
  }
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

/** Restarts the only replica of a service. Events wait in Kafka during the restart. */
async function restart(service: Service, options: ProgressOptions): Promise<void> {
  requireBroker()
  requireOwnSettings()
  const own = [service.name, sidecarOf(service)]
  await withStackLock(localFolder, options.onProgress, async () => {
    const plan = await createPlan(localFolder, localPorts())
    await restartProcesses(plan, own, options)
  })
}

function presentNames(): ProcessName[] {
  return [...new Set([...processNamesWith(serversOf(localFolder)), ...recordedNames(localFolder)])]
}

function status(): StackStatus {
  const rows = stackStatus(localFolder, presentNames())
  if (rows.every((row) => row.state === 'stopped')) return { lines: [], unwell: undefined, nextStep: 'make up' }
  const colours = { running: 'green', stopped: 'dim', crashed: 'red' } as const
  const [header = '', ...lines] = formatStatus(rows)
  const unwell = rows.filter(({ state }) => state !== 'running')
  const own = processNamesWith(serversOf(localFolder))
  return {
    lines: [
      { text: header, colour: 'bold' },
      ...lines.map((text, index) => ({ text, colour: colours[rows[index]?.state ?? 'stopped'] })),
    ],
    unwell: unwell.map(({ name, state }) => `${name} (${state})`),
    nextStep: unwell.some(({ name }) => own.includes(name)) ? 'make up' : 'make observe',
  }
}

function runningServices(): ServiceProbe[] {
  const rows = stackStatus(
    localFolder,
    services.map(({ name }) => name),
  )
  return rows.flatMap(({ name, state, port }) =>
    state === 'running' ? [{ name, ask: () => fetchReadiness(`http://localhost:${port}/readyz`) }] : [],
  )
}

async function fetchReadiness(url: string): Promise<Readiness> {
  const response = await fetch(url, { signal: AbortSignal.timeout(readyTimeoutMs) })
  return (await response.json()) as Readiness
}

/** @throws {CliError} `still-running` if this shell has other settings than the stack, which all commands use */
function requireOwnSettings(): void {
  const { variables } = readStack(localFolder)
  if (variables) requireSameVariables(variables, givenSettings(process.env))
}

/** Runs an operator's command with the settings of a service of this stack. Returns the exit code. */
export async function operateHere(service: Service, args: string[]): Promise<number> {
  requireOwnSettings()
  const plan = await createPlan(localFolder, localPorts())
  return await operateWith(plan, service, args, askVariables(plan))
}

/**
 * Runs an operator's command for the Kafka of another stack. Returns the exit code.
 * @param variables the settings of that stack
 * @param kafka the settings of section `Stream`, which replace those of a stack of processes
 */
export async function operateElsewhere(
  service: Service,
  args: string[],
  { variables, kafka }: Record<'variables' | 'kafka', Record<string, string>>,
): Promise<number> {
  const plan = { ...(await createPlan(localFolder, localPorts())), variables }
  return await operateWith(plan, service, args, kafka)
}

async function operateWith(
  plan: Plan,
  { name, folder }: Service,
  args: string[],
  variables: Record<string, string>,
): Promise<number> {
  const { env } = entryOf(processSpecs(plan), name)
  const program = join(repository, folder, operateProgram)
  return runInTerminal(process.execPath, [program, ...args], { ...withoutVariables(process.env), ...env, ...variables })
}
