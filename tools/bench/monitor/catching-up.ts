import { setTimeout as delay } from 'node:timers/promises'
import { entryOf } from '@orderflow/stack'
import type { BenchStack } from '../support/bench-stack.ts'

/** A shorter interval would exceed `Limits__AddressPerMinute`. */
const pollMs = 50

export const specsOf = (stack: BenchStack) => [stack.specOf('event-monitor'), stack.specOf('event-monitor-sidecar')]
export const urlOf = (stack: BenchStack) =>
  `http://127.0.0.1:${entryOf(stack.plan.ports.services, 'event-monitor').http}/v1`

export interface Completeness {
  indexLag: number | null
  kept: number
  isConnected: boolean
}

interface Page {
  complete: { total: number }
}

export async function get<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} returned ${response.status}`)
  return (await response.json()) as Answer
}

/**
 * Starts the monitor on an unread log. Returns the indexed events per second. Calculates them from the number of unread events,
 * because the number of stored events shrinks when the monitor drops the oldest events.
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

export async function caughtUp(stack: BenchStack): Promise<void> {
  await stack.wait('the index to be complete', specsOf(stack), async () => {
    await delay(pollMs)
    const { indexLag, kept } = await get<Completeness>(`${urlOf(stack)}/completeness`)
    return indexLag === 0 ? undefined : `${kept} are there`
  })
}

/** The index counts the events of each interval of this length (packages/event-monitor/src/index/segment.ts). */
const stepMs = 5_000

/**
 * Counts new events in the index. The monitor's lag and total are unsuitable: a suspended monitor reports an old lag, and the total shrinks when
 * the oldest events are dropped.
 * @returns a function that waits for a number of new events
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
