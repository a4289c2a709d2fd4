import { checkPayload, orderEvents as orderEventsTopic, parseFullEnvelope } from '@orderflow/envelope-schema'
import type { BenchStack } from './bench-stack.ts'
import type { Contender } from './contenders.ts'
import { type Ledger, ledgerOf } from './ledger.ts'
import { countBusyShare, countProcessorTime } from './process-use.ts'
import { distance, type Stream } from './stream.ts'

export interface Payment {
  /** The time from the start to the first check that finds published payments. */
  startSeconds: number
  /** The rate between the first check that finds payments and the check that finds all. Leaves out the payments that the first check found. */
  perSecond: number
  busy: number
  /** Microseconds of processor time per event, while the rate is measured. */
  microseconds: Record<(typeof processes)[number], number>
}

export const processes = ['program', 'sidecar', 'kafka', 'postgresql'] as const

/** A contender has finished if all offsets are committed and it has published nothing for this time. */
const settleMs = 5_000

/** Every tenth order has an amount above the limit, so contenders reject its payment. */
const isRejected = (index: number) => index % 10 === 9
export const total = (index: number) => (isRejected(index) ? 10_000.01 : 9_999.99)

/** @throws {Error} if an announcement is invalid or does not match the amount */
export async function requireRightAnswers(stack: BenchStack, stream: Stream, contender: Contender, orders: string[]) {
  const expected = new Map(orders.map((id, index) => [id, isRejected(index) ? 'PaymentRejected' : 'PaymentApproved']))
  const wrong: string[] = []
  let seen = 0
  const stop = await stream.follow(contender.topic, (value) => {
    seen += 1
    try {
      const { Name, Payload } = checkPayload(parseFullEnvelope(value)) as { Name: string; Payload: { OrderId: string } }
      if (expected.get(Payload.OrderId) !== Name) wrong.push(`${Name} of ${Payload.OrderId}`)
    } catch (error) {
      wrong.push(`${(error as Error).message}: ${value.toString()}`)
    }
  })
  await pay(stack, stream, contender, orders.length)
  await stack.wait('its announcements', [], async () => (seen < orders.length ? `${seen} were read` : undefined))
  await stop()
  if (wrong.length > 0)
    throw new Error(`${contender.name} published ${wrong.length} wrong announcements, such as ${wrong[0]}`)
}

/** Starts a contender, waits until it has paid all events in Kafka, and stops it. */
export async function pay(stack: BenchStack, stream: Stream, contender: Contender, events: number): Promise<Payment> {
  const { name, specs, topic, countStored } = contender
  const before = { ends: await stream.ends(topic), stored: await countStored() }
  const startedAt = performance.now()
  let first: ReturnType<typeof beginAt> | undefined
  const beginAt = (published: number) => ({
    at: performance.now(),
    published,
    used: countProcessorTime(stack.plan.folder),
    busy: countBusyShare(),
  })
  stack.launch(specs)
  await stack.wait(`${name} to pay ${events} orders`, specs, async () => {
    const published = distance(before.ends, await stream.ends(topic))
    if (published > 0) first ??= beginAt(published)
    if (published < events) return `${published} are published`
    const stored = (await countStored()) - before.stored
    return stored < events ? `${stored} are stored` : undefined
  })
  if (!first) throw new Error(`${name} published no payment`)
  const [endedAt, used, busy] = [performance.now(), first.used(), first.busy()]
  // Uncommitted events would be delivered again in the next run.
  await stack.wait(`${name} to commit its offsets`, specs, () => uncommitted(stream, contender))
  await stack.stop(specs)
  const paid = events - first.published
  const perEvent = (process = '') => ((used[process] ?? 0) * 1_000) / paid
  return {
    startSeconds: (first.at - startedAt) / 1_000,
    perSecond: (paid * 1_000) / (endedAt - first.at),
    busy,
    microseconds: {
      program: perEvent(specs[0]?.name),
      sidecar: perEvent(specs[1]?.name),
      kafka: perEvent('kafka'),
      postgresql: perEvent('postgresql'),
    },
  }
}

/**
 * Lets a contender pay all events, but kills and restarts it when half of the orders are paid. Returns the seconds from the kill to the next
 * payment.
 */
export async function payKilled(
  stack: BenchStack,
  stream: Stream,
  contender: Contender,
  events: number,
): Promise<number> {
  const { name, specs, topic, countStored } = contender
  const before = { ends: await stream.ends(topic), stored: await countStored() }
  const published = async () => distance(before.ends, await stream.ends(topic))
  stack.launch(specs)
  await stack.wait(`${name} to pay half of ${events} orders`, specs, async () => {
    const count = await published()
    return count < events / 2 ? `${count} are published` : undefined
  })
  stack.signal(specs, 'SIGKILL')
  await stack.stop(specs)
  const left = await published()
  const killedAt = performance.now()
  let resumedAt = Number.NaN
  let last = { count: left, at: killedAt }
  stack.launch(specs)
  await stack.wait(`${name} to pay the rest of ${events} orders`, specs, async () => {
    const count = await published()
    if (count > left && Number.isNaN(resumedAt)) resumedAt = performance.now()
    if (count > last.count) last = { count, at: performance.now() }
    const isComplete = count >= events && (await countStored()) - before.stored >= events
    if (!isComplete && performance.now() - last.at < settleMs) return `${count} are published`
    // If a payment is still missing when all offsets are committed, it is lost.
    return uncommitted(stream, contender)
  })
  await stack.stop(specs)
  return (resumedAt - killedAt) / 1_000
}

async function uncommitted(stream: Stream, { consumerGroup }: Contender): Promise<string | undefined> {
  const lag = await stream.lag(orderEventsTopic, consumerGroup)
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
  mark: Mark | undefined,
  orders: string[],
): Promise<{ stored: Ledger; published: Ledger }> {
  const ends = await stream.ends(topic)
  const keys = await stream.keys(topic, mark?.ends ?? ends.map(() => 0n), ends)
  const payments = (await stored()).filter((id) => !mark?.stored.has(id))
  return { stored: ledgerOf(orders.map(paymentOf), payments), published: ledgerOf(orders, keys) }
}
