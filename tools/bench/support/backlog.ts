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
  await untilAnswered(stack, stream, specs, before, all.length)
  return (1_000 * all.length) / (performance.now() - begun)
}

/** Waits until so many events are published since `before`. @throws {Error} if there are more, because an event had two effects */
export async function untilAnswered(
  stack: BenchStack,
  stream: Stream,
  specs: ProcessSpec[],
  before: bigint[],
  events: number,
): Promise<void> {
  await stack.wait(`${events} answers`, specs, async () => {
    const count = distance(before, await stream.ends(paymentEvents))
    if (count > events) throw new Error(`${count} events were published for ${events} causes`)
    return count < events ? `${count} are published` : undefined
  })
}
