import { setTimeout as delay } from 'node:timers/promises'
import { entryOf } from '@orderflow/cli'
import type { BenchStack } from '../support/bench-stack.ts'

/** A higher rate exceeds `Limits__AddressPerMinute`, which also limits searches from the same address. */
const pollMs = 50

/** Returns the specs of the monitor’s two processes. */
export const specsOf = (stack: BenchStack) => [stack.specOf('event-monitor'), stack.specOf('event-monitor-sidecar')]
/** Returns the address of the monitor’s API. */
export const urlOf = (stack: BenchStack) =>
  `http://127.0.0.1:${entryOf(stack.plan.ports.services, 'event-monitor').http}/v1`

/** The state of the index in the monitor’s API. */
export interface Completeness {
  indexLag: number | null
  kept: number
  isConnected: boolean
}

/** A list in the monitor’s API. */
interface Page {
  complete: { total: number }
}

/** @throws {Error} unless the answer is successful */
export async function get<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return (await response.json()) as Answer
}

/**
 * Starts the monitor on an unread log. Returns the events per second from the first indexed event to the last. Counts unread events,
 * because the number of stored ones shrinks when the monitor drops the oldest.
 */
export async function catchUp(stack: BenchStack): Promise<number> {
  const specs = specsOf(stack)
  stack.launch(specs)
  let first: { at: number; indexLag: number } | undefined
  let endedAt = 0
  await stack.wait('the monitor to catch up', specs, async () => {
    await delay(pollMs)
    const index = await get<Completeness>(`${urlOf(stack)}/completeness`).catch(() => undefined)
    if (!index?.kept || index.indexLag === null) return 'it has none'
    endedAt = performance.now()
    first ??= { at: endedAt, indexLag: index.indexLag }
    return index.indexLag === 0 ? undefined : `${index.indexLag} are left`
  })
  return ((first?.indexLag ?? 0) * 1_000) / (endedAt - (first?.at ?? 0))
}

/** Waits until the monitor reports a complete index. */
export async function caughtUp(stack: BenchStack): Promise<void> {
  await stack.wait('the index to be complete', specsOf(stack), async () => {
    await delay(pollMs)
    const { indexLag, kept } = await get<Completeness>(`${urlOf(stack)}/completeness`)
    return indexLag === 0 ? undefined : `${kept} are there`
  })
}

/** The length of the index’s steps for counting events (packages/event-monitor/src/index/segment.ts). */
const stepMs = 5_000

/**
 * Counts the events of the index from now on, including the last five seconds. The monitor’s lag is unusable, because a suspended monitor
 * reports an old value at first. Neither is the total, which shrinks when the oldest are dropped.
 * @returns a function that waits for this many additional events
 */
export async function countFromNow(stack: BenchStack): Promise<(events: number) => Promise<void>> {
  const from = new Date(Date.now() - (Date.now() % stepMs)).toISOString()
  const count = async () => (await get<Page>(`${urlOf(stack)}/events?limit=1&from=${from}`)).complete.total
  const before = await count()
  return (events) =>
    stack.wait('the index to be complete', specsOf(stack), async () => {
      await delay(pollMs)
      const more = (await count()) - before
      return more >= events ? undefined : `${more} of ${events} are there`
    })
}
