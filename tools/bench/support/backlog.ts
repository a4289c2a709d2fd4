import type { ProcessSpec } from '@orderflow/cli'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { BenchStack } from './bench-stack.ts'
import { distance, type OutsideEvent, type Stream } from './stream.ts'

/** Publishes orders while a service is stopped, so that deliveries are full. Returns how many of them it answers with an event per second. */
export async function answerBacklog(
  stack: BenchStack,
  stream: Stream,
  specs: ProcessSpec[],
  orders: Iterable<OutsideEvent>,
): Promise<number> {
  const [before, all] = [await stream.ends(paymentEvents), [...orders]]
  stack.signal(specs, 'SIGSTOP')
  await stream.publish(orderEvents, all)
  stack.signal(specs, 'SIGCONT')
  const begun = performance.now()
  return (1_000 * all.length) / ((await untilAnswered(stack, stream, specs, before, all.length)) - begun)
}

/**
 * Waits until so many orders have a payment in the log since `before`. A payment may be there twice, because a sidecar publishes again what it does not
 * know to be in the log. Returns the time of the last payment.
 */
export async function untilAnswered(
  stack: BenchStack,
  stream: Stream,
  specs: ProcessSpec[],
  before: bigint[],
  orders: number,
): Promise<number> {
  let answeredAt = Number.NaN
  await stack.wait(`${orders} payments`, specs, async () => {
    const ends = await stream.ends(paymentEvents)
    answeredAt = performance.now()
    const count = distance(before, ends)
    if (count < orders) return `${count} are published`
    const paid = new Set(await stream.keys(paymentEvents, before, ends)).size
    return paid < orders ? `${paid} orders have one` : undefined
  })
  return answeredAt
}
