import { setTimeout as delay } from 'node:timers/promises'
import { entryOf } from '@orderflow/cli'
import type { BenchStack } from '../support/bench-stack.ts'

/** Who asks more often is refused (`Limits__AddressPerMinute`), and so is whoever searches from the same address. */
const pollMs = 50

/** The monitor's two processes. */
export const specsOf = (stack: BenchStack) => [stack.specOf('event-monitor'), stack.specOf('event-monitor-sidecar')]
/** Where its API is. */
export const urlOf = (stack: BenchStack) =>
  `http://127.0.0.1:${entryOf(stack.plan.ports.services, 'event-monitor').http}/v1`

/** What it says of its index. */
export interface Completeness {
  indexLag: number | null
  kept: number
  isConnected: boolean
}

/** What it says of a list. */
interface Page {
  complete: { total: number }
}

/** @throws {Error} of any answer but a good one */
export async function get<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answers with ${response.status}`)
  return (await response.json()) as Answer
}

/**
 * Starts the monitor on a log that it has not read yet. Answers events a second, from the first that is in the index to the last, by how many
 * were left to read: what it keeps gets fewer, too, when it drops the oldest.
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

/** Waits until all is in the index, as far as the monitor knows. */
export async function caughtUp(stack: BenchStack): Promise<void> {
  await stack.wait('the index to be complete', specsOf(stack), async () => {
    await delay(pollMs)
    const { indexLag, kept } = await get<Completeness>(`${urlOf(stack)}/completeness`)
    return indexLag === 0 ? undefined : `${kept} are there`
  })
}

/** The index counts events in steps of so long (packages/event-monitor/src/index/segment.ts). */
const stepMs = 5_000

/**
 * Counts the events of the index from now on, those of the last five seconds included. How far it is behind, a monitor that was suspended does not know
 * yet when it goes on, and what it keeps gets fewer when it drops the oldest.
 *
 * @returns waits until so many more are there
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
