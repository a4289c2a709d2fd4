/**
 * How long an order takes: from the POST to its answer, and to the moment a reader sees it paid, at a steady rate.
 * Starts a stack of its own on free ports. `node bench/latency.ts [orders per second] [seconds]`
 */
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts, type RunningStack, stackStatus, startStack, testFolder } from '@orderflow/stack'
import { processorMs } from './support/processor-time.ts'
import { percentiles, table } from './support/report.ts'

const [rate = 50, seconds = 20] = process.argv.slice(2).map(Number)
const pollMs = 5
/** One order in so many is watched: watching all would measure the load of the watching. */
const watchOneIn = 5
const json = { 'content-type': 'application/json' }
const body = JSON.stringify({ customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 })

interface Sample {
  answered: number
  /** Only of a watched order. */
  paid?: number
}

async function oneOrder(orders: string, watched: boolean): Promise<Sample> {
  const start = performance.now()
  const response = await fetch(orders, { method: 'POST', headers: json, body })
  const { id } = (await response.json()) as { id: string }
  if (response.status !== 201) throw new Error(`POST answered ${response.status}`)
  const answered = performance.now() - start
  if (!watched) return { answered }
  for (;;) {
    const order = (await (await fetch(`${orders}/${id}`)).json()) as { status: string }
    if (order.status === 'Paid') return { answered, paid: performance.now() - start }
    await delay(pollMs)
  }
}

/** Orders at a steady rate, whether or not those before are done (an open loop: a slow answer is not a slower load). */
async function load(orders: string, perSecond: number, forSeconds: number): Promise<Sample[]> {
  const samples: Promise<Sample>[] = []
  const start = performance.now()
  for (let count = 0; count < perSecond * forSeconds; count += 1) {
    await delay(Math.max(0, start + (count * 1_000) / perSecond - performance.now()))
    samples.push(oneOrder(orders, count % watchOneIn === 0))
  }
  return Promise.all(samples)
}

/** Each process of the stack, with the processor time it has used so far. */
const processes = (stack: RunningStack) =>
  stackStatus(stack.folder).map(({ name, pid = 0, residentBytes = 0 }) => ({
    name,
    residentBytes,
    used: processorMs(pid),
  }))

async function measure(stack: RunningStack): Promise<void> {
  const orders = `${stack.orderUrl}/v1/orders`
  console.log(`warming up, then ${rate} orders/s for ${seconds} s, watching one order in ${watchOneIn} ...`)
  await load(orders, rate, 5)
  const before = processes(stack)
  const samples = await load(orders, rate, seconds)
  console.log(
    `\n${new Date().toISOString().slice(0, 10)}, ${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}\n`,
  )
  console.log(
    table(
      ['ms', 'p50', 'p90', 'p99', 'max'],
      [
        ['POST answered', ...percentiles(samples.map(({ answered }) => answered))],
        ['order Paid', ...percentiles(samples.flatMap(({ paid }) => paid ?? []))],
      ],
    ),
  )
  const rows = processes(stack).map(({ name, residentBytes, used }, index) => {
    const perOrder = (used - (before[index]?.used ?? 0)) / samples.length
    return [name, (residentBytes / 2 ** 20).toFixed(0), perOrder.toFixed(1)]
  })
  console.log(table(['process', 'MiB', 'processor ms/order'], rows))
}

const stack = await startStack({
  folder: testFolder('bench'),
  ports: await freePorts(),
  detached: false,
})
try {
  await measure(stack)
} finally {
  await stack.stop()
}
