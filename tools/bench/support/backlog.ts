import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { ProcessSpec } from '@orderflow/stack/internals'
import type { BenchStack } from './bench-stack.ts'
import { distance, type OutsideEvent } from './stream.ts'

/** Publishes orders while a service is stopped, so that deliveries are full. Returns how many of them it answers with an event per second. */
export async function answerBacklog(
  stack: BenchStack,
  specs: ProcessSpec[],
  orders: Iterable<OutsideEvent>,
): Promise<number> {
  const [before, all] = [await stack.stream.ends(paymentEvents), [...orders]]
  stack.signal(specs, 'SIGSTOP')
  await stack.stream.publish(orderEvents, all)
  stack.signal(specs, 'SIGCONT')
  const begun = performance.now()
  return (1_000 * all.length) / ((await untilAnswered(stack, specs, before, all.length)) - begun)
}

/**
 * Waits until so many answers are in the log since `before`. An answer may be there twice, because a sidecar publishes again what it does not know to
 * be in the log. Returns the time of the last answer.
 * @throws {Error} if there are more answers, because an event had two effects
 */
export async function untilAnswered(
  { stream, wait }: BenchStack,
  specs: ProcessSpec[],
  before: bigint[],
  events: number,
): Promise<number> {
  let answeredAt = Number.NaN
  await wait(`${events} answers`, specs, async () => {
    const ends = await stream.ends(paymentEvents)
    answeredAt = performance.now()
    const count = distance(before, ends)
    if (count < events) return `${count} are published`
    // The answers to one busy key have the same record key, but different Ids.
    const records = await stream.records(paymentEvents, before)
    const answers = new Set(records.map(({ value }) => (JSON.parse(value.toString()) as { Id: string }).Id)).size
    if (answers > events) throw new Error(`${answers} events were published for ${events} causes`)
    return answers < events ? `${answers} are different` : undefined
  })
  return answeredAt
}

/** Waits until groups have handled their topics, so that no work is left for the next contender. */
export function untilCaughtUp(
  { stream, wait }: BenchStack,
  specs: ProcessSpec[],
  ...subscriptions: [group: string, topic: string][]
): Promise<void> {
  const groups = [...new Set(subscriptions.map(([group]) => group))].join(' and ')
  return wait(`${groups} to catch up`, specs, async () => {
    const lags = await Promise.all(subscriptions.map(([group, topic]) => stream.lag(topic, group)))
    const lag = lags.reduce((most, each) => Math.max(most, each), 0)
    return lag > 0 ? `${lag} events behind` : undefined
  })
}
