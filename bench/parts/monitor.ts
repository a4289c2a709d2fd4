import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { entryOf } from '@orderflow/stack'
import { buildPages } from '@orderflow/stack/parts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { publishOrders } from '../support/events.ts'
import { atLeast, atMost, type Findings, number } from '../support/findings.ts'
import { inTurn, type Part, type Run } from '../support/part.ts'
import { lookOn } from '../support/pixels.ts'
import { countProcessorTime, watchMemory } from '../support/process-use.ts'
import type { Publishing } from '../support/publishing.ts'
import { median, percentile } from '../support/statistics.ts'
import { openStream, type Stream } from '../support/stream.ts'
import { pay } from './outside.ts'

/** Events a second while people look on. */
const rate = 10_000
const searchEveryMs = 50
/** Who asks more often is refused (`Limits__AddressPerMinute`), and so is whoever searches from the same address. */
const truthEveryMs = 50

interface Live {
  perSecond: number
  /** Milliseconds from the broker until a browser had drawn it, of so many batches of rows. */
  drawn: { p50: number; p95: number; batches: number }
  /** Milliseconds. */
  search: { p50: number; p95: number }
  /** Bytes of the monitor, the most that was seen, and of the browser's tab. */
  memory: number
  heapBytes: number
  events: number
  /** Seconds after the last event until all were in the index. */
  behindSeconds: number
}

/** Does the monitor keep up, does whoever asks it wait, and what does it take from the services beside it? */
export const monitor: Part = {
  title: `Every event in the monitor's index: what waits, ${rate} a second while it is searched, and services beside it`,

  measure: (run) =>
    withBenchStack(['kafka'], run.tell, async (stack) => {
      const { backlog, seconds, rounds, paid } = run.quick
        ? { backlog: 60_000, seconds: 10, rounds: 1, paid: 4_000 }
        : { backlog: 400_000, seconds: 600, rounds: 5, paid: 40_000 }
      await buildPages(undefined)
      const stream = openStream(stack.kafka)
      const paidAlone = await beside(run, stack, stream, rounds, paid)
      run.tell(`publishing ${backlog} events`)
      for (let left = backlog; left > 0; left -= 20_000) await publishOrders(stream, Math.min(left, 20_000))
      const fromBacklog = await catchUp(stack)
      const live = await watch(run, stack, seconds)
      await stack.stop(specsOf(stack))
      await stream.close()
      return findings(fromBacklog, live, paidAlone)
    }),
}

const specsOf = (stack: BenchStack) => [stack.specOf('event-monitor'), stack.specOf('event-monitor-sidecar')]
const urlOf = (stack: BenchStack) => `http://127.0.0.1:${entryOf(stack.plan.ports.services, 'event-monitor').http}/v1`

interface Truth {
  indexLag: number | null
  kept: number
  isConnected: boolean
}

async function get<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answers with ${response.status}`)
  return (await response.json()) as Answer
}

/**
 * Starts the monitor on a log that it has not read yet. Answers events a second, from the first that is in the index to the last, by how many
 * were left to read: what it keeps gets fewer, too, when it drops the oldest.
 */
async function catchUp(stack: BenchStack): Promise<number> {
  const specs = specsOf(stack)
  stack.launch(specs)
  let first: { at: number; indexLag: number } | undefined
  let endedAt = 0
  await stack.wait('the monitor to catch up', specs, async () => {
    await delay(truthEveryMs)
    const truth = await get<Truth>(`${urlOf(stack)}/truth`).catch(() => undefined)
    if (!truth?.kept || truth.indexLag === null) return 'it has none'
    endedAt = performance.now()
    first ??= { at: endedAt, indexLag: truth.indexLag }
    return truth.indexLag === 0 ? undefined : `${truth.indexLag} are left`
  })
  return ((first?.indexLag ?? 0) * 1_000) / (endedAt - (first?.at ?? 0))
}

async function watch(run: Run, stack: BenchStack, seconds: number): Promise<Live> {
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
        // Of none: it is looked for in all that is kept.
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

/** In a thread, so that a search waits for the monitor, and not for whoever makes its load. */
async function publishing(workerData: Publishing): Promise<number> {
  const worker = new Worker(new URL('../support/publishing.ts', import.meta.url), { workerData })
  const [events] = await once(worker, 'message')
  return events as number
}

/** @param events so many are there then: how far it is behind it does not know yet when it goes on */
async function caughtUp(stack: BenchStack, events = 0): Promise<void> {
  await stack.wait('the index to be complete', specsOf(stack), async () => {
    await delay(truthEveryMs)
    const { indexLag, kept } = await get<Truth>(`${urlOf(stack)}/truth`)
    return indexLag === 0 && kept >= events ? undefined : `${kept} are there`
  })
}

interface Beside {
  name: string
  perSecond: number
  /** Of the monitor: processor time for each order, in microseconds, and the seconds that it needed afterwards until all was in the index. */
  microseconds: number
  behindSeconds: number
}

/**
 * Orders that payment-service pays a second, by itself and with the monitor beside it, in turn. The monitor is suspended while orders are
 * published, and goes on with the payments or after them: it runs all the time, as it does elsewhere, and has both events of each order to index.
 */
async function beside(run: Run, stack: BenchStack, stream: Stream, rounds: number, events: number): Promise<Beside[]> {
  const payers = [stack.specOf('payment-service'), stack.specOf('payment-sidecar')]
  const contender = { name: 'payments', specs: payers, topic: 'paymentevents', database: 'payment' }
  await publishOrders(stream, events)
  await pay(stack, stream, contender, events)
  await catchUp(stack)
  const samples = await inTurn(
    run,
    [
      { name: 'payments alone', isWatched: false },
      { name: 'beside the monitor', isWatched: true },
    ],
    rounds,
    async ({ isWatched }) => {
      const { kept } = await get<Truth>(`${urlOf(stack)}/truth`)
      stack.signal(specsOf(stack), 'SIGSTOP')
      await publishOrders(stream, events)
      const used = countProcessorTime(stack.plan.folder)
      if (isWatched) stack.signal(specsOf(stack), 'SIGCONT')
      const { perSecond } = await pay(stack, stream, contender, events, Math.floor(events / 10))
      const endedAt = performance.now()
      stack.signal(specsOf(stack), 'SIGCONT')
      await caughtUp(stack, kept + 2 * events)
      const behindSeconds = (performance.now() - endedAt) / 1_000
      const microseconds = ((used()['event-monitor'] ?? 0) * 1_000) / events
      return { perSecond, microseconds, behindSeconds }
    },
  )
  await stack.stop(specsOf(stack))
  return [...samples].map(([{ name }, found]) => ({
    name,
    perSecond: median(found.map(({ perSecond }) => perSecond)),
    microseconds: median(found.map(({ microseconds }) => microseconds)),
    behindSeconds: median(found.map(({ behindSeconds }) => behindSeconds)),
  }))
}

function findings(backlog: number, live: Live, paid: Beside[]): Findings {
  const [alone, watched] = paid.map(({ perSecond }) => perSecond)
  const share = (watched ?? Number.NaN) / (alone ?? Number.NaN)
  const megabytes = live.memory / 1e6
  return {
    tables: [
      {
        title: 'The index',
        head: ['', ''],
        rows: [
          ['from a backlog, events/s', number(backlog)],
          ['published, events/s', number(live.perSecond)],
          ['events', number(live.events)],
          ['seconds behind at the end', number(live.behindSeconds, 1)],
          ['broker to a browser’s pixels, p50 and p95 in ms', `${number(live.drawn.p50)} ${number(live.drawn.p95)}`],
          ['batches that were drawn', number(live.drawn.batches)],
          ['search meanwhile, p50 and p95 in ms', `${number(live.search.p50, 1)} ${number(live.search.p95, 1)}`],
          ['memory at most, MB', number(megabytes)],
          ['heap of the browser’s tab, MB', number(live.heapBytes / 1e6)],
        ],
      },
      {
        title: 'Orders paid a second, medians',
        head: ['', 'orders/s', 'monitor, µs an order', 'seconds until it had all'],
        rows: paid.map(({ name, perSecond, microseconds, behindSeconds }) => [
          name,
          number(perSecond),
          number(microseconds),
          number(behindSeconds, 1),
        ]),
      },
    ],
    goals: [
      atLeast('from a backlog, events/s', backlog, 20_000),
      atLeast('published and indexed, events/s', live.perSecond, 0.95 * rate),
      atMost('seconds behind at the end', live.behindSeconds, 2, 1),
      atMost('broker to pixels, p95 in ms', live.drawn.p95, 250),
      atMost('search, p95 in ms', live.search.p95, 20, 1),
      atMost('memory, MB', megabytes, 300),
      atMost('heap of the tab, MB', live.heapBytes / 1e6, 50),
      atLeast('paid beside the monitor / alone', share, 0.9, 2),
    ],
    charts: [],
    figures: { backlog, live, paid },
  }
}
