import type { Send } from '@orderflow/service-kit'
import type { Job } from './api/dead-letters.ts'
import type { EventFilter, EventRow } from './api/events.ts'
import type { LiveBatch } from './api/live.ts'
import { hashOf } from './index/guid-runs.ts'
import type { MonitorIndex } from './index/monitor-index.ts'
import { queryOf } from './index/read/search.ts'
import { type IngestBatch, maxRows } from './ingest/messages.ts'
import { facetsOf } from './model/counts.ts'
import { isFaulty, type Kind, type KindCount } from './model/kind.ts'

/** The interval of batches. Ten batches per second look smooth. */
export const batchMs = 100
/** The number of milliseconds by which a timer may fire early. */
const toleranceMs = 5
/** The interval of batches without events. */
const quietMs = 1_000

interface View {
  test: (kind: Kind) => boolean
  hash: number | undefined
  /** Hashes of words that may be record keys. `test` tests a kind for the remaining words. */
  keys: { hash: number; test: (kind: Kind) => boolean }[]
  send: Send
  pending: Pick<LiveBatch, 'received' | 'matched' | 'invalid' | 'rows'> & { kinds: Pick<KindCount, 'kind' | 'count'>[] }
  lost: LiveBatch['lost']
  sequence: number
  sentAt: number
}

const nothing = () => ({ received: 0, matched: 0, invalid: 0, rows: [], kinds: [] })
const noLoss = () => ({ batches: 0, received: 0, matched: 0 })

export type LiveViews = ReturnType<typeof createLiveViews>

/** Sends exact counts and a few rows to live views. A slow client misses batches, and then receives their counts. */
export function createLiveViews(index: MonitorIndex, now: () => Date) {
  const views = new Set<View>()
  let dropped = 0

  const stopListening = index.onBatch((batch) => {
    for (const view of views) {
      add(view, batch)
      // Sends at once if enough time has passed since the last batch.
      if (performance.now() - view.sentAt >= batchMs) flush(view)
    }
  })
  const timer = setInterval(() => {
    for (const view of views) flush(view)
  }, batchMs)
  timer.unref()

  function watch(): void {
    index.watch(
      views.size > 0,
      [...views].flatMap(({ hash, keys }) => [...(hash === undefined ? [] : [hash]), ...keys.map((key) => key.hash)]),
    )
  }

  function flush(view: View): void {
    const { pending } = view
    const since = performance.now() - view.sentAt
    if (since < (pending.received === 0 ? quietMs : batchMs - toleranceMs)) return
    view.sequence += 1
    const { kinds, ...counted } = pending
    const { gaps: _, ...completeness } = index.completeness()
    const { topic, type, publisher, validity } = facetsOf(kinds)
    const batch: LiveBatch = {
      sequence: view.sequence,
      at: now().toISOString(),
      ...counted,
      added: { topic, type, publisher, validity },
      lost: view.lost,
      completeness,
    }
    view.pending = nothing()
    view.sentAt = performance.now()
    if (view.send('batch', batch)) view.lost = noLoss()
    else {
      dropped += counted.rows.length
      view.lost = {
        batches: view.lost.batches + 1,
        received: view.lost.received + counted.received,
        matched: view.lost.matched + counted.matched,
      }
    }
  }

  return {
    open(filter: EventFilter, send: Send): () => void {
      index.requireOpen()
      const query = queryOf(filter)
      const hash = query.guid === undefined ? undefined : hashOf(query.guid)
      const view: View = {
        test: query.test,
        hash,
        keys: query.keys.map(({ key, test }) => ({ hash: hashOf(key), test })),
        send,
        pending: nothing(),
        lost: noLoss(),
        sequence: 0,
        sentAt: performance.now(),
      }
      send('hello', { completeness: index.completeness(), batchMs, maxRows })
      views.add(view)
      watch()
      return () => {
        views.delete(view)
        watch()
      }
    },
    job(job: Job): void {
      for (const { send } of views) send('job', job)
    },
    dropped: () => dropped,
    stop() {
      clearInterval(timer)
      stopListening()
    },
  }
}

function add({ pending, test, hash, keys }: View, { kinds, watched }: IngestBatch): void {
  for (const { count } of kinds) pending.received += count
  const own = hash === undefined ? kinds : watched.filter((one) => one.hash === hash)
  const keyed = watched.filter(({ hash: found, kind }) => keys.some((key) => key.hash === found && key.test(kind)))
  const rows: EventRow[] = []
  for (const { kind, count, rows: some } of [
    ...own.filter((one) => test(one.kind)),
    ...keyed.filter((one) => !test(one.kind)),
  ]) {
    pending.matched += count
    if (isFaulty(kind)) pending.invalid += count
    pending.kinds.push({ kind, count })
    for (const row of some) rows.push(row)
  }
  rows.sort((one, other) => (one.at < other.at ? 1 : -1))
  pending.rows = [...rows, ...pending.rows].slice(0, maxRows)
}
