import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Run } from '../report/part.ts'
import { percentile } from '../report/statistics.ts'
import type { BenchStack } from '../support/bench-stack.ts'
import { watchMemory } from '../support/process-use.ts'
import { caughtUp, get, urlOf } from './catching-up.ts'
import { lookOn } from './pixels.ts'
import type { Publishing } from './publishing.ts'

/** The events per second of the live test. */
export const rate = 10_000
const searchEveryMs = 50

export interface Live {
  perSecond: number
  /** Milliseconds from the broker to the browser’s pixels, and the number of batches. */
  drawn: { p50: number; p95: number; batches: number }
  search: { p50: number; p95: number }
  /** The monitor’s peak memory, and the heap of the browser’s tab, in bytes. */
  memory: number
  heapBytes: number
  events: number
  /** The seconds from the last event until all events were in the index. */
  behindSeconds: number
}

/** Publishes for the given number of seconds, while a client searches and a browser shows the page. */
export async function live(run: Run, stack: BenchStack, seconds: number): Promise<Live> {
  const url = urlOf(stack)
  const searches: number[] = []
  const [begun, state] = [performance.now(), { isOver: false, events: 0, endedAt: 0 }]

  async function publish(): Promise<void> {
    state.events = await publishing({ port: stack.plan.ports.kafka, perSecond: rate, seconds })
    Object.assign(state, { isOver: true, endedAt: performance.now() })
  }

  async function search(): Promise<void> {
    let known: string[] = []
    for (let turn = 0; !state.isOver; turn += 1) {
      if (turn % 100 === 0) {
        const { items } = await get<{ items: { correlationId: string }[] }>(`${url}/events?limit=100`)
        known = items.map(({ correlationId }) => correlationId)
      }
      const minuteAgo = new Date(Date.now() - 60_000).toISOString()
      const questions = [
        `guid=${known[turn % Math.max(1, known.length)] ?? ''}`,
        // A search for a GUID that no event contains reads the whole index.
        `guid=${crypto.randomUUID()}`,
        'q=created&limit=50',
        `q=older+ordercreated&from=${minuteAgo}&limit=50`,
      ]
      const at = performance.now()
      await get(`${url}/events?${questions[turn % questions.length]}`)
      searches.push(performance.now() - at)
      await delay(searchEveryMs)
    }
  }

  run.tell(`${rate} events a second for ${seconds} s`)
  const memory = watchMemory(stack.plan.folder)
  const { ages, heapBytes } = await lookOn(url.replace('/v1', '/'), async () => {
    await Promise.all([publish(), search()])
  })
  await caughtUp(stack)
  const behindSeconds = (performance.now() - state.endedAt) / 1_000
  const spread = (values: number[]) => ({ p50: percentile(values, 0.5), p95: percentile(values, 0.95) })
  return {
    perSecond: (state.events * 1_000) / (state.endedAt - begun),
    drawn: { ...spread(ages), batches: ages.length },
    search: spread(searches),
    memory: memory()['event-monitor'] ?? Number.NaN,
    heapBytes,
    events: state.events,
    behindSeconds,
  }
}

/** Publishes in a separate thread, so that this load does not slow searches down. */
async function publishing(workerData: Publishing): Promise<number> {
  const worker = new Worker(new URL('./publishing.ts', import.meta.url), { workerData })
  const [events] = await once(worker, 'message')
  return events as number
}
