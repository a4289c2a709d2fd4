import { setTimeout as delay } from 'node:timers/promises'
import { entryOf } from '@orderflow/stack'
import { isReplicaOf } from './cluster/cluster.ts'
import { readBacklog } from './faults/backlog.ts'
import { type Breakable, inflict } from './faults/faults.ts'
import { describeFault, faultName, type Step } from './faults/schedule.ts'
import type { Book } from './ledger/book.ts'
import { startHttpLoad } from './load/http-load.ts'
import { httpOrder } from './load/orders.ts'
import { createTally } from './load/tally.ts'
import { startOutsideLoad } from './outside/load.ts'
import { createProbe } from './report/recovery.ts'
import type { FaultReport, LoadReport } from './report/report.ts'

export interface BreakOptions {
  seed: string
  /** The number of orders per second through HTTP. An outside publisher publishes the same number. */
  rate: number
  /** The time after which no step begins. */
  minutes: number
  /** Returns the steps. `disks` and `clocks` are true if this machine can fill disks and set clocks. */
  steps: (means: { disks: boolean; clocks: boolean }) => Iterable<Step>
  /** The time for which orders are not paid at the end, after all other faults. */
  unpaidMs: number
  onProgress: (line: string) => void
}

const warmUpMs = 3_000
/** The time after the end of the load, in which clients still repeat refused requests. Then they give up. */
const patienceMs = 120_000

/** Loads the system and runs the steps. Returns when every client has its answer. */
export async function breakIt(
  { seed, rate, minutes, steps, unpaidMs, onProgress }: BreakOptions,
  { book, ...breakable }: Breakable & { book: Book },
): Promise<{ load: LoadReport; faults: FaultReport[]; calmAt: number }> {
  const { cluster, supervisor, disks } = breakable
  const tally = createTally()
  const probe = createProbe(cluster, book, seed)
  const startedAt = Date.now()
  let overAt = Number.POSITIVE_INFINITY
  const isOver = () => Date.now() > overAt
  const clients = { urls: entryOf(cluster.urls, 'order-service'), book, tally, keys: seed, isOver, patienceMs: 250 }
  const http = startHttpLoad((index) => httpOrder(seed, index), rate, clients)
  const outside = startOutsideLoad(seed, rate, { kafka: cluster.kafka, book, paid: probe.paid, isOver })
  onProgress(`load: ${rate} orders/s through HTTP and ${rate}/s from outside`)

  const faults: FaultReport[] = []
  let [seconds, calmAt] = [0, Number.NaN]
  try {
    await delay(warmUpMs)
    for (const step of steps({ disks: disks !== undefined, clocks: cluster.clocks !== undefined })) {
      if (Date.now() - startedAt > minutes * 60_000) break
      const what = step.faults.map(describeFault).join(', and ')
      onProgress(what)
      const before = supervisor.deaths.length
      const beganAt = new Date()
      await inflict(step, breakable)
      const since = performance.now()
      const [behind, recovery] = await Promise.all([behindNow(), probe.measure(since)])
      faults.push({
        what,
        names: step.faults.map(faultName),
        beganAt,
        behind,
        recovery,
        deaths: supervisor.deaths.slice(before),
      })
      await delay(step.restMs)
    }
    calmAt = Date.now()
    onProgress('payment-service is stopped, and orders expire')
    const members = cluster.members.filter((member) => isReplicaOf(member, 'payment-service'))
    await inflict({ faults: [{ kind: 'kill', members, ms: unpaidMs }], apartMs: 0, restMs: 0 }, breakable)
    seconds = (Date.now() - startedAt) / 1_000
    onProgress('load: begins no more orders, and waits for the last answers')
    overAt = Date.now() + patienceMs
  } catch (error) {
    overAt = 0
    throw error
  } finally {
    await Promise.all([http.end(), outside.end()])
  }
  const counts = { http: http.begun(), outside: outside.begun(), answers: tally.counts() }
  return { load: { seconds, ...counts, brokerFailures: outside.failures() }, faults, calmAt }

  async function behindNow(): Promise<number | undefined> {
    return await readBacklog(cluster.kafka).then(
      ({ behind }) => behind,
      () => undefined,
    )
  }
}
