import { setTimeout as delay } from 'node:timers/promises'
import { deterministicId } from '@orderflow/envelope-schema'
import { HttpProblem } from '@orderflow/service-kit'
import { parsePlace } from '@orderflow/service-kit/log'
import type { Trust } from '@orderflow/service-kit/trust'
import type { Job } from '../api/dead-letters.ts'
import type { MonitorIndex } from '../index/monitor-index.ts'
import type { LogAccess } from './kafka.ts'
import type { KeptJob, Ledger } from './ledger.ts'

const maxOutcomes = 100
/** Progress is written and told so often. */
const stepMs = 200
/** A ledger that cannot be written is tried again this often. */
const retryMs = 1_000

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
  /**
   * Continues the jobs that a stop interrupted. Each waits until the index has caught up, which then has the events that were resent.
   * Returns when the ledger could be read.
   */
  resume(): Promise<void>
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
  /** Ids of the jobs that wait or run. */
  const unfinished = new Set<string>()
  let running: Promise<void> | undefined
  let isClosing = false

  function save(kept: KeptJob): void {
    ledger.save(kept)
    tell(kept.job)
  }

  /**
   * Writes to the ledger. While it cannot be written, as on a full disk, the job waits and states why.
   * @throws {HttpProblem} when the monitor stops before that; the job then continues after the next start
   */
  async function written({ job }: KeptJob, write: () => void): Promise<void> {
    for (;;) {
      try {
        job.error = null
        return write()
      } catch (error) {
        if (!(error instanceof HttpProblem) || isClosing) throw error
        job.error = error.options.detail
        tell(job)
        await delay(retryMs)
      }
    }
  }

  function enqueue(kept: KeptJob): void {
    // A job that begins while an unreadable ledger keeps the others waiting is among those that it lists later.
    if (unfinished.has(kept.job.id)) return
    unfinished.add(kept.job.id)
    queue.push(kept)
    running ??= runAll().finally(() => {
      running = undefined
    })
  }

  async function runAll(): Promise<void> {
    for (let kept = queue.shift(); kept && !isClosing; kept = queue.shift()) {
      await run(kept)
      unfinished.delete(kept.job.id)
    }
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
      await end(kept, stopped.has(job.id) && kept.next < kept.entries.length ? 'stopped' : 'done')
    } catch (error) {
      if (isClosing) return
      await end(kept, 'failed', (error as Error).message)
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
        const item = {
          at: now().toISOString(),
          by: job.by,
          what: 'DeadLetterResent' as const,
          place: entry.origin,
          reason: null,
          as,
          edited: edited !== undefined,
        }
        await written(kept, () => ledger.record(item))
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
    await written(kept, () => save(kept))
  }

  async function end(kept: KeptJob, state: Job['state'], error: string | null = null): Promise<void> {
    const job = { ...kept.job, state, endedAt: now().toISOString(), error }
    stopped.delete(job.id)
    await written(kept, () => save({ ...kept, job, edited: null }))
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
    async resume() {
      while (!isClosing) {
        try {
          for (const kept of ledger.running()) enqueue(kept)
          return
        } catch (error) {
          if (!(error instanceof HttpProblem)) throw error
          await delay(retryMs)
        }
      }
    },
    async close() {
      isClosing = true
      await running
    },
  }
}
