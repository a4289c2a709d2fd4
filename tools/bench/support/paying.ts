import { checkPayload, deadLetterTopic, parseFullEnvelope } from '@orderflow/envelope-schema'
import { number } from '../report/findings.ts'
import { medianOf, medianRatio } from '../report/statistics.ts'
import type { BenchStack } from './bench-stack.ts'
import type { Contender } from './contenders.ts'
import { invalidOrders, orderEvents } from './events.ts'
import { type Ledger, ledgerOf, requireComplete } from './ledger.ts'
import { countProcessorTime } from './process-use.ts'
import { distance, type OutsideEvent, type Stream } from './stream.ts'

export interface Payment {
  perSecond: number
  /** Microseconds of processor time per event of the program, its sidecar, Kafka and PostgreSQL together. */
  microseconds: number
}

const ratesOf = (payments: Payment[]) => payments.map(({ perSecond }) => perSecond)

/** Returns the median of the ratios of single rounds. */
export const ratioOf = (ours: Payment[], others: Payment[]): number => medianRatio(ratesOf(ours), ratesOf(others))

export const headOfPayments = ['events/s', 'ratio', 'processor µs']

/** Returns the cells of a program under `headOfPayments`. */
export const cellsOfPayments = (payments: Payment[], ours: Payment[]): string[] => [
  number(medianOf(payments, ({ perSecond }) => perSecond)),
  number(ratioOf(ours, payments), 2),
  number(medianOf(payments, ({ microseconds }) => microseconds)),
]

/** A contender has finished if all offsets are committed and it has published nothing for this time. */
const settleMs = 5_000

/** Returns the number of events that keep a contender busy for this time, in steps of 500, up to 30,000. */
export function backlogFor(perSecond: number, seconds: number): number {
  return Math.min(Math.max(Math.round((perSecond * seconds) / 500), 1), 60) * 500
}

/** Every tenth order has an amount above the limit, so contenders reject its payment. */
const isRejected = (index: number) => index % 10 === 9
export const total = (index: number) => (isRejected(index) ? 10_000.01 : 9_999.99)

/**
 * Gives a running contender 1,000 orders, and invalid events if it validates. Returns the ids of the orders.
 * @throws {Error} if an announcement is invalid or does not match the amount, or if other events than the invalid ones are dead letters
 */
export async function requireRightAnswers(stack: BenchStack, contender: Contender): Promise<string[]> {
  const { stream } = stack
  const { name, validates, specs, input, topic } = contender
  const orders = [...orderEvents(1_000, 0, total)]
  const invalid = validates ? invalidOrders() : []
  const before = new Map<string, bigint[]>()
  for (const output of [topic, deadLetterTopic(input)]) before.set(output, await stream.ends(output))
  await stream.publish(input, [...orders.slice(0, 500), ...invalid, ...orders.slice(500)])
  await stack.wait(`${name} to pay the first orders`, specs, async () => {
    const published = distance(before.get(topic) ?? [], await stream.ends(topic))
    return published < orders.length ? `${published} are published` : uncommitted(stream, contender)
  })

  const all = (output: string) => stream.records(output, before.get(output))
  const expected = new Map(
    orders.map(({ key }, index) => [key, isRejected(index) ? 'PaymentRejected' : 'PaymentApproved']),
  )
  const wrong = (await all(topic)).flatMap(({ value }) => wrongAnswer(value, expected) ?? [])
  if (wrong.length > 0) throw new Error(`${name} published ${wrong.length} wrong announcements, such as ${wrong[0]}`)

  const textsOf = (events: OutsideEvent[]) => events.map(({ value }) => value.toString())
  const deadLetters = await all(deadLetterTopic(input))
  requireComplete(`${name}, its dead letters`, ledgerOf(textsOf(invalid), textsOf(deadLetters)))
  return orders.map(({ key }) => key)
}

function wrongAnswer(value: Buffer, expected: Map<string, string>): string | undefined {
  try {
    const { Name, Payload } = checkPayload(parseFullEnvelope(value)) as { Name: string; Payload: { OrderId: string } }
    return expected.get(Payload.OrderId) === Name ? undefined : `${Name} of ${Payload.OrderId}`
  } catch (error) {
    return `${(error as Error).message}: ${value.toString()}`
  }
}

/** Publishes orders while a contender is stopped, so that it finds all of them when it continues. Returns the ids of the orders. */
async function giveBacklog(stack: BenchStack, { specs, input }: Contender, count: number): Promise<string[]> {
  const orders = [...orderEvents(count, 0, total)]
  stack.signal(specs, 'SIGSTOP')
  await stack.stream.publish(input, orders)
  stack.signal(specs, 'SIGCONT')
  return orders.map(({ key }) => key)
}

/** Lets a contender pay a backlog, and stops it until its next round. Returns the ids of the orders, too. */
export async function pay(
  stack: BenchStack,
  contender: Contender,
  count: number,
): Promise<{ payment: Payment; orders: string[] }> {
  const { name, specs, topic, countStored } = contender
  const before = { ends: await stack.stream.ends(topic), stored: await countStored() }
  const orders = await giveBacklog(stack, contender, count)
  const startedAt = performance.now()
  const usedSince = countProcessorTime(stack.plan.folder)
  await stack.wait(`${name} to pay ${count} orders`, specs, async () => {
    const published = distance(before.ends, await stack.stream.ends(topic))
    if (published < count) return `${published} are published`
    const stored = (await countStored()) - before.stored
    return stored < count ? `${stored} are stored` : undefined
  })
  const [endedAt, used] = [performance.now(), usedSince()]
  stack.signal(specs, 'SIGSTOP')
  const processes = [...specs.map((spec) => spec.name), 'kafka', 'postgresql']
  const ms = processes.reduce((sum, process) => sum + (used[process] ?? 0), 0)
  const payment = { perSecond: (count * 1_000) / (endedAt - startedAt), microseconds: (ms * 1_000) / count }
  return { payment, orders }
}

/**
 * Lets a running contender pay a backlog, but kills and restarts it when half of the orders are paid. Returns the seconds from the kill to the
 * next payment, and the ids of the orders.
 */
export async function payKilled(
  stack: BenchStack,
  contender: Contender,
  backlog: number,
): Promise<{ silentSeconds: number; orders: string[] }> {
  const { name, specs, topic, countStored } = contender
  const { stream } = stack
  const before = { ends: await stream.ends(topic), stored: await countStored() }
  const published = async () => distance(before.ends, await stream.ends(topic))
  const orders = await giveBacklog(stack, contender, backlog)
  await stack.wait(`${name} to pay half of ${backlog} orders`, specs, async () => {
    const count = await published()
    return count < backlog / 2 ? `${count} are published` : undefined
  })
  stack.signal(specs, 'SIGKILL')
  await stack.stop(specs)
  const left = await published()
  const killedAt = performance.now()
  let resumedAt = Number.NaN
  let last = { count: left, at: killedAt }
  stack.launch(specs)
  await stack.wait(`${name} to pay the rest of ${backlog} orders`, specs, async () => {
    const count = await published()
    if (count > left && Number.isNaN(resumedAt)) resumedAt = performance.now()
    if (count > last.count) last = { count, at: performance.now() }
    const isComplete = count >= backlog && (await countStored()) - before.stored >= backlog
    if (!isComplete && performance.now() - last.at < settleMs) return `${count} are published`
    // If a payment is still missing when all offsets are committed, it is lost.
    return uncommitted(stream, contender)
  })
  return { silentSeconds: (resumedAt - killedAt) / 1_000, orders }
}

export async function uncommitted(stream: Stream, { input, consumerGroup }: Contender): Promise<string | undefined> {
  const lag = await stream.lag(input, consumerGroup)
  return lag > 0 ? `${lag} are not committed` : undefined
}

export interface Mark {
  ends: bigint[]
  stored: Set<string>
}

export async function markOf(stream: Stream, { topic, stored }: Contender): Promise<Mark> {
  return { ends: await stream.ends(topic), stored: new Set(await stored()) }
}

/** Compares these orders with the stored and published payments. Leaves out the payments from before the mark. */
export async function ledgersSince(
  stream: Stream,
  { topic, stored, paymentOf }: Contender,
  mark: Mark,
  orders: string[],
): Promise<{ stored: Ledger; published: Ledger }> {
  const keys = await stream.keys(topic, mark.ends)
  const payments = (await stored()).filter((id) => !mark.stored.has(id))
  return { stored: ledgerOf(orders.map(paymentOf), payments), published: ledgerOf(orders, keys) }
}
