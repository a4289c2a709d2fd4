import { setTimeout as delay } from 'node:timers/promises'
import { deterministicId } from '@orderflow/envelope-schema'
import { parsePlace } from '@orderflow/service-kit/log'
import type { Trust } from '@orderflow/service-kit/trust'
import type { Job } from '../api/dead-letters.ts'
import type { MonitorIndex } from '../index/monitor-index.ts'
import type { LogAccess } from './kafka.ts'
import type { KeptJob, Ledger } from './ledger.ts'

const maxOutcomes = 100
/** Progress is written and told so often. */
const stepMs = 200

export interface NewJob {
  entries: string[]
  group: string | null
  perSecond: number
  edited: string | null
  by: string
  /** The same key is the same job. */
  key: string | undefined
}

/** Jobs that resend dead letters, as `make dead-letters` does it. One runs at a time, and goes on after a restart. */
export interface Resends {
  start(job: NewJob): Job
  stop(id: string): Job | undefined
  /** Goes on with what a stop interrupted, once the index has caught up: what was resent is known by then. */
  resume(): void
  close(): Promise<void>
}

export interface ResendsOptions {
  index: MonitorIndex
  ledger: Ledger
  log: LogAccess
  trust: Trust
  now: () => Date
  newId: () => string
  /** Told whenever a job moved on. */
  tell: (job: Job) => void
}

export function createResends({ index, ledger, log, trust, now, newId, tell }: ResendsOptions): Resends {
  const queue: KeptJob[] = []
  const stopped = new Set<string>()
  let running: Promise<void> | undefined
  let isClosing = false

  function save(kept: KeptJob): void {
    ledger.save(kept)
    tell(kept.job)
  }

  function enqueue(kept: KeptJob): void {
    queue.push(kept)
    running ??= runAll().finally(() => {
      running = undefined
    })
  }

  async function runAll(): Promise<void> {
    for (let kept = queue.shift(); kept && !isClosing; kept = queue.shift()) await run(kept)
  }

  async function run(kept: KeptJob): Promise<void> {
    const { job } = kept
    try {
      while (kept.next > 0 && index.truth().indexLag !== 0 && !isClosing) await delay(stepMs)
      while (kept.next < kept.entries.length && !isClosing && !stopped.has(job.id)) {
        const begun = performance.now()
        const length = Math.max(1, Math.round((job.perSecond * stepMs) / 1_000))
        await step(kept, kept.entries.slice(kept.next, kept.next + length))
        const share = (length * 1_000) / job.perSecond
        await delay(Math.max(0, share - (performance.now() - begun)))
      }
      if (isClosing) return
      end(kept, stopped.has(job.id) && kept.next < kept.entries.length ? 'stopped' : 'done')
    } catch (error) {
      job.error = (error as Error).message
      end(kept, 'failed')
    }
  }

  async function step(kept: KeptJob, ids: string[]): Promise<void> {
    const { job } = kept
    const found = await index.ask('rawEntries', ids)
    const edited = kept.edited === null ? undefined : Buffer.from(kept.edited, 'base64')
    const settled = new Set<string>()
    for await (const outcome of log.resend(
      found.map(({ entry }) => entry),
      { trust, edited },
    )) {
      const { entry, result } = outcome
      settled.add(entry.id)
      if (result === 'ready') continue
      const as = 'as' in outcome ? (parsePlace(outcome.as) ?? null) : null
      job[result] += 1
      job.outcomes = [{ entry: entry.id, result, as, why: 'why' in outcome ? outcome.why : [] }, ...job.outcomes].slice(
        0,
        maxOutcomes,
      )
      if (result === 'resent') {
        const place = entry.origin
        ledger.record({
          at: now().toISOString(),
          by: job.by,
          what: 'DeadLetterResent',
          place,
          reason: null,
          as,
          edited: edited !== undefined,
        })
      }
    }
    for (const id of ids) {
      if (settled.has(id)) continue
      job.refused += 1
      job.outcomes = [
        { entry: id, result: 'refused' as const, as: null, why: ['there is no such dead letter any more'] },
        ...job.outcomes,
      ].slice(0, maxOutcomes)
    }
    kept.next += ids.length
    save(kept)
  }

  function end(kept: KeptJob, state: Job['state']): void {
    kept.job.state = state
    kept.job.endedAt = now().toISOString()
    kept.edited = null
    stopped.delete(kept.job.id)
    save(kept)
  }

  return {
    start({ entries, group, perSecond, edited, by, key }) {
      const id = key === undefined ? newId() : deterministicId('resend', by, key)
      const known = ledger.find(id)
      if (known) return known.job
      const job: Job = {
        id,
        state: 'running',
        by,
        startedAt: now().toISOString(),
        endedAt: null,
        perSecond,
        group,
        edited: edited !== null,
        total: entries.length,
        ...{ resent: 0, refused: 0, done: 0, outcomes: [], error: null },
      }
      const kept = { job, entries, next: 0, edited }
      save(kept)
      enqueue(kept)
      return job
    },
    stop(id) {
      const known = ledger.find(id)?.job
      if (known?.state === 'running') stopped.add(id)
      return known
    },
    resume() {
      for (const kept of ledger.running()) enqueue(kept)
    },
    async close() {
      isClosing = true
      await running
    },
  }
}
