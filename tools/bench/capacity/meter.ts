import { readFileSync } from 'node:fs'
import { type ProcessSpec, processState } from '@orderflow/cli'
import type { BenchStack } from '../support/bench-stack.ts'
import { countBusyShare, countProcessorTime } from '../support/process-use.ts'

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
  /** Milliseconds of processor time, by `service` or `service-sidecar`, `kafka` and `postgresql`. Replicas are added up. */
  used: Record<string, number>
  /** Milliseconds of processor time of the services' main threads. */
  mainThread: Record<string, number>
  calls: Record<string, Calls>
}

/** Removes the number of a replica from the name of its process. */
const kindOf = (name: string) => name.replace(/-\d+$/, '')

const isService = ({ env }: ProcessSpec) => env.Metrics__Port !== undefined

/** Begins a measurement of these processes. The returned function ends the measurement. */
export async function readMeters(stack: BenchStack, specs: ProcessSpec[]): Promise<() => Promise<Reading>> {
  const { folder } = stack.plan
  const services = specs.filter(isService)
  const calls = await callsOf(services)
  const threads = threadsOf(folder, services)
  const [busy, used, at] = [countBusyShare(), countProcessorTime(folder), performance.now()]
  return async () => {
    const [seconds, busyShare, usedTime] = [(performance.now() - at) / 1_000, busy(), used()]
    return {
      seconds,
      busy: busyShare,
      used: addedUp(Object.entries(usedTime)),
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
