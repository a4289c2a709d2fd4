import { execFile } from 'node:child_process'
import { Agent, request } from 'node:http'
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const body = JSON.stringify({ customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 })

/** The result of a load of POSTs, with latencies in milliseconds. */
export interface Load {
  /** The number of answers with 2xx. */
  answered: number
  /** The number of other answers, broken connections and timeouts. */
  failed: number
  perSecond: number
  p50: number
  p99: number
  /** The times of the first request and the last answer, in milliseconds since 1970. */
  startedAt: number
  endedAt: number
}

interface AutocannonResult {
  '2xx': number
  non2xx: number
  errors: number
  timeouts: number
  start: string
  finish: string
  latency: { p50: number; p99: number }
}

/** Posts orders as fast as they are answered, from a separate process (autocannon). */
export async function postOrders(
  url: string,
  {
    connections,
    authorization,
    ...until
  }: { connections: number; authorization?: string | undefined } & ({ seconds: number } | { amount: number }),
): Promise<Load> {
  const limit = 'seconds' in until ? ['-d', String(until.seconds)] : ['-a', String(until.amount)]
  const headers = [
    '-H',
    'content-type=application/json',
    ...(authorization ? ['-H', `authorization=${authorization}`] : []),
  ]
  // Autocannon checks only once per sampling interval (-L) whether it has finished, so this interval is short.
  const args = ['-j', '-n', '-L', '10', '-c', String(connections), ...limit, '-m', 'POST', ...headers, '-b', body, url]
  const autocannon = createRequire(import.meta.url).resolve('autocannon')
  const { stdout } = await promisify(execFile)(process.execPath, [autocannon, ...args])
  return loadOf(JSON.parse(stdout) as AutocannonResult)
}

function loadOf({ '2xx': answered, non2xx, errors, start, finish, latency }: AutocannonResult): Load {
  const [startedAt, endedAt] = [Date.parse(start), Date.parse(finish)]
  return {
    answered,
    // Autocannon’s number of errors includes the timeouts.
    failed: non2xx + errors,
    perSecond: (answered * 1_000) / (endedAt - startedAt),
    p50: latency.p50,
    p99: latency.p99,
    startedAt,
    endedAt,
  }
}

/** @throws {Error} if the service does not show one of these orders as Paid */
export async function requirePaid(url: string, ids: string[]): Promise<void> {
  for (const id of ids) {
    const { status } = (await (await fetch(`${url}/${id}`)).json()) as { status: string }
    if (status !== 'Paid') throw new Error(`order ${id} is ${status}`)
  }
}

/** A placed order. Times are values of `performance.now()`. */
export interface PlacedOrder {
  due: number
  answered: number
  status: number
  id: string | undefined
}

/** Places orders at a steady rate, and measures each from its due time. So slow answers neither reduce the load nor hide waiting times. */
export async function placeOrders(url: string, perSecond: number, seconds: number): Promise<PlacedOrder[]> {
  const agent = new Agent({ keepAlive: true })
  const start = performance.now()
  const orders: Promise<PlacedOrder>[] = []
  for (let count = 0; count < perSecond * seconds; count += 1) {
    const due = start + (count * 1_000) / perSecond
    const early = due - performance.now()
    if (early > 0) await delay(early)
    orders.push(placeOrder(url, agent, due))
  }
  const placed = await Promise.all(orders)
  agent.destroy()
  return placed
}

/** Places an order. Status 0 means a broken connection. */
function placeOrder(url: string, agent: Agent, due: number): Promise<PlacedOrder> {
  return new Promise((resolve) => {
    const done = (status: number, text: string) => {
      const id = status === 201 ? (JSON.parse(text) as { id: string }).id : undefined
      resolve({ due, answered: performance.now(), status, id })
    }
    const sent = request(
      url,
      { agent, method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        response.toArray().then(
          (chunks) => done(response.statusCode ?? 0, Buffer.concat(chunks).toString()),
          () => done(0, ''),
        )
      },
    )
    sent.on('error', () => done(0, ''))
    sent.end(body)
  })
}
