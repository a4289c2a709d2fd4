import type { ProcessSpec } from '@orderflow/stack/internals'
import type { BenchStack } from './bench-stack.ts'
import type { Stream } from './stream.ts'

type Subscription = [group: string, topic: string]

/** Waits until groups have handled their topics, so that no work is left for the next contender. */
export function untilCaughtUp(
  stack: BenchStack,
  stream: Stream,
  subscriptions: Subscription[],
  specs: ProcessSpec[],
): Promise<void> {
  const groups = [...new Set(subscriptions.map(([group]) => group))].join(' and ')
  return stack.wait(`${groups} to catch up`, specs, async () => {
    const lags = await Promise.all(subscriptions.map(([group, topic]) => stream.lag(topic, group)))
    const lag = lags.reduce((most, each) => Math.max(most, each), 0)
    return lag > 0 ? `${lag} events behind` : undefined
  })
}
