import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { type ProcessSpec, processState } from '@orderflow/stack/internals'
import type { BenchStack } from '../support/bench-stack.ts'
import { countBusyShare, countProcessorTime, ownProcessorMs } from '../support/process-use.ts'

/** The numbers of calls of a service, and of their events. */
export interface Calls {
  deliveries: number
  delivered: number
  saves: number
  saved: number
  publishes: number
  published: number
  /** Answered HTTP requests. */
  requests: number
  /** Seconds between the beginning and the end of all deliveries, saves and publishes. */
  deliverySeconds: number
  saveSeconds: number
  publishSeconds: number
}

export interface Reading {
  seconds: number
  /** The busy share of the machine's processors. */
  busy: number
  /** Milliseconds of processor time in each second that belong to programs outside of the benchmark, and to the system. */
  foreign: number
  /** Milliseconds of processor time, by `service` or `service-sidecar`, `kafka` and `postgresql`. Replicas are added up. */
  used: Record<string, number>
  /** Milliseconds of processor time of the services' main threads. */
  mainThread: Record<string, number>
  calls: Record<string, Calls>
}

/** A run is repeated if other programs take more than this, in milliseconds of each second. */
const mostForeign = 100
const attempts = 4

/** Repeats a measurement while other programs disturb it. Returns the least disturbed one. */
export async function undisturbed<Measured extends Reading>(
  tell: (line: string) => void,
  measure: () => Promise<Measured>,
): Promise<Measured> {
  let best = await measure()
  for (let attempt = 2; attempt <= attempts && best.foreign > mostForeign; attempt += 1) {
    tell(`other programs took ${Math.round(best.foreign)} ms of each second; attempt ${attempt} of ${attempts}`)
    const next = await measure()
    if (next.foreign < best.foreign) best = next
  }
  return best
}

/** Removes the number of a replica from the name of its process. */
const kindOf = (name: string) => name.replace(/-\d+$/, '')

const isService = ({ env }: ProcessSpec) => env.Metrics__Port !== undefined

/** Ends a measurement. */
type End = () => Promise<Reading>

/**
 * Prepares a measurement of these processes, which must be idle. The returned function begins the measurement at once, so the processes may be stopped
 * then.
 */
export async function readMeters(stack: BenchStack, specs: ProcessSpec[]): Promise<() => End> {
  const services = specs.filter(isService)
  const calls = await callsOf(services)
  return () => beginAt(stack, services, calls)
}

function beginAt({ plan: { folder } }: BenchStack, services: ProcessSpec[], calls: Record<string, Calls>): End {
  const threads = threadsOf(folder, services)
  const [busy, used, own, at] = [countBusyShare(), countProcessorTime(folder), ownProcessorMs(), performance.now()]
  return async () => {
    const seconds = (performance.now() - at) / 1_000
    const [busyShare, usedByName] = [busy(), addedUp(Object.entries(used()))]
    const known = Object.values(usedByName).reduce((sum, ms) => sum + ms, ownProcessorMs() - own)
    return {
      seconds,
      busy: busyShare,
      foreign: busyShare * cpus().length * 1_000 - known / seconds,
      used: usedByName,
      mainThread: differences(threadsOf(folder, services), threads),
      calls: Object.fromEntries(
        Object.entries(await callsOf(services)).map(([name, after]) => [
          name,
          differences({ ...after }, { ...calls[name] }) as unknown as Calls,
        ]),
      ),
    }
  }
}

function addedUp(values: [name: string, value: number][]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [name, value] of values) sums[kindOf(name)] = (sums[kindOf(name)] ?? 0) + value
  return sums
}

function differences(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]))
}

/** Reads the times of main threads (proc_pid_stat(5)), in milliseconds. */
function threadsOf(folder: string, services: ProcessSpec[]): Record<string, number> {
  return addedUp(
    services.map(({ name }) => {
      const state = processState(folder, name)
      if (state.state !== 'running') return [name, 0]
      const [, afterName = ''] = readFileSync(`/proc/${state.pid}/task/${state.pid}/stat`, 'utf8').split(') ')
      const [user, system] = afterName.split(' ').slice(11, 13)
      return [name, (Number(user) + Number(system)) * 10]
    }),
  )
}

async function callsOf(services: ProcessSpec[]): Promise<Record<string, Calls>> {
  const sums: Record<string, Calls> = {}
  for (const { name, env } of services) {
    const text = await (await fetch(`http://127.0.0.1:${env.Metrics__Port}/metrics`)).text()
    const calls = callsIn(text)
    const sum = sums[kindOf(name)]
    sums[kindOf(name)] = sum ? plus(sum, calls) : calls
  }
  return sums
}

function plus(a: Calls, b: Calls): Calls {
  const sum = { ...a }
  for (const key of Object.keys(a) as (keyof Calls)[]) sum[key] += b[key]
  return sum
}

/** Reads the calls from a service's metrics. */
export function callsIn(text: string): Calls {
  const sum = (name: string, has: (labels: string) => boolean = () => true) =>
    [...text.matchAll(new RegExp(`^${name}(\\{.*\\})? (\\S+)`, 'gm'))]
      .filter(([, labels = '']) => has(labels))
      .reduce((total, [, , value]) => total + Number(value), 0)
  const isStore = (labels: string) => labels.includes('queue="store"')
  const isTopic = (labels: string) => !isStore(labels)
  return {
    deliveries: sum('orderflow_delivery_size_events_count'),
    delivered: sum('orderflow_delivery_size_events_sum'),
    saves: sum('orderflow_batch_size_items_count', isStore),
    saved: sum('orderflow_batch_size_items_sum', isStore),
    publishes: sum('orderflow_batch_size_items_count', isTopic),
    published: sum('orderflow_batch_size_items_sum', isTopic),
    requests: sum('http_server_request_duration_seconds_count'),
    deliverySeconds: sum('orderflow_delivery_seconds_sum'),
    saveSeconds: sum('orderflow_flush_seconds_sum', isStore),
    publishSeconds: sum('orderflow_flush_seconds_sum', isTopic),
  }
}
