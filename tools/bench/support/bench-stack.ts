import { join } from 'node:path'
import { entryOf, freePorts, type KafkaConnection, sidecarOf, storedServices } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import {
  claimFolder,
  createPlan,
  dataFolder,
  ensureRunning,
  freeServicePorts,
  localKafka,
  type Plan,
  type ProcessName,
  type ProcessSpec,
  processSpecs,
  processState,
  releaseFolder,
  type ServicePorts,
  signalGroup,
  startProcess,
  stopProcess,
  waitUntil,
} from '@orderflow/stack/internals'
import { provision } from '@orderflow/stack/machine'
import { openStream, type Stream } from './stream.ts'

export const orderProcesses: readonly string[] = [
  'kafka',
  ...storedServices.flatMap((service) => [service.name, sidecarOf(service)]),
]

/** The processes of both kinds of stores. */
export const stores: [name: string, parts: ProcessName[]][] = [
  ['SQLite', ['kafka']],
  ['PostgreSQL', ['kafka', 'postgresql']],
]

/** Parts of a stack, which use separate ports and end with this process. */
export interface BenchStack {
  plan: Plan
  kafka: KafkaConnection
  /** A client of this Kafka, which is closed at the end. */
  stream: Stream
  ordersUrl: string
  specOf: (name: ProcessName) => ProcessSpec
  launch: (specs: ProcessSpec[]) => void
  /** Stops processes with SIGTERM, in the given sequence. A service must end before its sidecar, because it announces its last events then. */
  stop: (specs: ProcessSpec[]) => Promise<void>
  signal: (specs: ProcessSpec[], signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2') => void
  /**
   * Repeats `probe` until it returns undefined. A returned string names a missing condition.
   * @throws {CliError} when a process dies, or after `timeoutMs`
   */
  wait: (what: string, on: ProcessSpec[], probe: () => Promise<string | undefined>, timeoutMs?: number) => Promise<void>
  database: (name: string) => string
  morePorts: () => Promise<ServicePorts>
}

/** Longer than any wait on a machine that is fast enough to measure. */
const waitTimeoutMs = 300_000
const graceMs = 10_000
const tellEveryMs = 10_000

/** Starts these parts of a new stack, runs `work`, and stops the parts. The part `postgresql` replaces SQLite. */
export async function withBenchStack<Result>(
  names: readonly ProcessName[],
  tell: (line: string) => void,
  work: (stack: BenchStack) => Promise<Result>,
): Promise<Result> {
  await provision({ onProgress: tell })
  const folder = testFolder('bench')
  await claimFolder(folder)
  try {
    const store = names.includes('postgresql') ? 'postgresql' : 'sqlite'
    const plan = await createPlan(folder, await freePorts(), { store })
    tell(`starting ${names.join(', ')}`)
    await ensureRunning(plan, names, { onProgress: () => {} })
    const stream = openStream(localKafka(plan.ports.kafka))
    try {
      return await work(createBenchStack(plan, stream, tell))
    } finally {
      await stream.close()
    }
  } finally {
    await releaseFolder(folder)
  }
}

function createBenchStack(plan: Plan, stream: Stream, tell: (line: string) => void): BenchStack {
  const { folder, ports } = plan
  const specs = processSpecs(plan)
  const taken = new Set(numbersOf(ports))

  async function morePorts(): Promise<ServicePorts> {
    const found = await freeServicePorts()
    if (numbersOf(found).some((port) => taken.has(port))) return morePorts()
    for (const port of numbersOf(found)) taken.add(port)
    return found
  }

  return {
    plan,
    kafka: localKafka(ports.kafka),
    stream,
    ordersUrl: `http://127.0.0.1:${entryOf(ports.services, 'order-service').http}/v1/orders`,
    specOf: (name) => entryOf(specs, name),
    launch: (started) => {
      for (const spec of started) startProcess(folder, spec)
    },
    stop: async (stopped) => {
      for (const { name } of stopped) await stopProcess(folder, name, graceMs)
    },
    signal: (signalled, signal) => {
      for (const { name } of signalled) {
        const state = processState(folder, name)
        if (state.state === 'running') signalGroup(state.group, signal)
      }
    },
    wait: (what, on, probe, timeoutMs = waitTimeoutMs) => {
      const processes = ['kafka', ...on.map(({ name }) => name)]
      let toldAt = performance.now()
      // The interval is short, because the measured times depend on when a probe succeeds.
      return waitUntil(what, { folder, processes, timeoutMs, everyMs: 10 }, async () => {
        const missing = await probe()
        if (missing === undefined || performance.now() - toldAt < tellEveryMs) return missing
        toldAt = performance.now()
        tell(`${what}: ${missing}`)
        return missing
      })
    },
    database: (name) => join(dataFolder(folder), `${name}.db`),
    morePorts,
  }
}

function numbersOf(ports: object): number[] {
  return Object.values(ports).flatMap((value) => (typeof value === 'number' ? value : numbersOf(value)))
}
