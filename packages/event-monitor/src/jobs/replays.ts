import { setTimeout as delay } from 'node:timers/promises'
import { deterministicId } from '@orderflow/envelope'
import { parsePosition, positionText, type RecordPosition } from '@orderflow/kafka-log'
import { HttpProblem } from '@orderflow/service-kit'
import { currentAttempt, type Entry, type ReplayIntent, type Trust } from '@orderflow/service-kit/log'
import type { Outcome } from '@orderflow/service-kit/operations'
import type { Job } from '../api/dead-letters.ts'
import type { MonitorIndex } from '../index/monitor-index.ts'
import type { Reads } from '../index/read/reads.ts'
import { MonitorError } from '../monitor-error.ts'
import type { AuditItem, ChosenEntry, KeptJob, Ledger, ReplayResults } from './ledger.ts'
import type { LogAccess } from './log-access.ts'

const maxOutcomes = 100
/** The interval at which progress is saved and reported. */
const stepMs = 200
/** The interval of attempts to write to the ledger. */
const retryMs = 1_000

export interface JobRequest {
  by: string
  /** Requests of one caller with the same Idempotency-Key start one job. */
  key: string | undefined
  /** Digest of the request's body. */
  fingerprint: string
}

export interface NewJob {
  entries: ChosenEntry[]
  group: string | null
  perSecond: number
  edited: string | null
}

export type Replays = ReturnType<typeof createReplays>

export interface ReplaysOptions {
  index: MonitorIndex
  ledger: Ledger
  log: LogAccess
  trust: Trust
  now: () => Date
  newId: () => string
  report: (job: Job) => void
}

/** Replays dead letters as `make dead-letters` does. One job runs at a time. */
export function createReplays({ index, ledger, log, trust, now, newId, report }: ReplaysOptions) {
  const queue: KeptJob[] = []
  const stopped = new Set<string>()
  /** Requests whose jobs are being prepared, by the id of the job. */
  const starting = new Map<string, { fingerprint: string; job: Promise<Job> }>()
  const unfinished = new Set<string>()
  let running: Promise<void> | undefined
  let isClosing = false

  function save(kept: KeptJob, results?: ReplayResults): void {
    ledger.save(kept, results)
    report(kept.job)
  }

  /**
   * Runs a function that uses the ledger, and repeats it while the ledger fails.
   * @param onFailure receives the reason of each failure
   * @throws {HttpProblem} if the monitor stops before the function succeeds; jobs continue after the next start
   */
  async function persistently(work: () => Promise<void> | void, onFailure: (reason?: string) => void): Promise<void> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof HttpProblem) || isClosing) throw error
        onFailure(error.options.detail)
        await delay(retryMs)
      }
    }
  }

  /** Waits while the ledger fails. The `error` of the job then has the reason. */
  const patiently = (kept: KeptJob, work: () => Promise<void> | void) =>
    persistently(work, (reason) => {
      kept.job.error = reason ?? null
      report(kept.job)
    })

  function enqueue(kept: KeptJob): void {
    // `resume` may also find jobs that `start` has already added.
    if (unfinished.has(kept.job.id)) return
    unfinished.add(kept.job.id)
    queue.push(kept)
    running ??= runAll()
  }

  async function runAll(): Promise<void> {
    try {
      for (let kept = queue.shift(); kept && !isClosing; kept = queue.shift()) {
        await run(kept)
        unfinished.delete(kept.job.id)
      }
    } finally {
      // Runs directly after the last check of the queue, so every job that is added later starts a new run.

      running = undefined
    }
  }

  async function run(kept: KeptJob): Promise<void> {
    const { job } = kept
    try {
      while (kept.next < kept.entries.length && !isClosing && !stopped.has(job.id)) {
        const begun = performance.now()
        const length = Math.max(1, Math.round((job.perSecond * stepMs) / 1_000))
        const chosen = kept.entries.slice(kept.next, kept.next + length)
        await patiently(kept, () => step(kept, chosen))
        const share = (chosen.length * 1_000) / job.perSecond
        await delay(Math.max(0, share - (performance.now() - begun)))
      }
      if (isClosing) return
      await end(kept, stopped.has(job.id) && kept.next < kept.entries.length ? 'stopped' : 'done')
    } catch (error) {
      if (isClosing) return
      await end(kept, 'failed', (error as Error).message)
    }
  }

  /** Waits until the index has these entries, or has indexed the whole log. Returns undefined if the job ends first. */
  async function entriesOf(jobId: string, ids: string[]): Promise<ReturnType<Reads['rawEntries']> | undefined> {
    while (!isClosing && !stopped.has(jobId)) {
      // Reads `indexLag` before the query, because the index may become complete only after the query.
      const isComplete = index.completeness().indexLag === 0
      const answer = await index.ask('rawEntries', ids)
      if (isComplete || answer.entries.length === ids.length) return answer
      await delay(stepMs)
    }
    return undefined
  }

  async function step(kept: KeptJob, chosen: ChosenEntry[]): Promise<void> {
    const { job } = kept
    const ids = chosen.map(({ id }) => id)
    const answer = await entriesOf(job.id, ids)
    if (!answer) return
    const entries = answer.entries.map(({ entry }) => entry)
    const attempts = new Map(entries.map((entry) => [entry.id, positionText(currentAttempt(entry).position)]))
    for (const { id, attempt } of chosen) attempts.set(id, attempt)
    const interrupted = new Map([...attempts].map(([id, of]) => [id, ledger.begun(of)]))
    const edited = kept.edited === null ? undefined : Buffer.from(kept.edited, 'base64')
    const results: ReplayResults = { audit: [], positions: [] }
    const missing = new Set(ids)
    try {
      const options = { trust, edited, attempts, readUpTo: answer.readUpTo, journal: ledger }
      for await (const outcome of log.replay(entries, options)) {
        const { entry } = outcome
        missing.delete(entry.id)
        results.positions.push(attempts.get(entry.id) as string)
        const as = 'as' in outcome ? (parsePosition(outcome.as) ?? null) : null
        const result = isOwn(interrupted.get(entry.id), outcome, as) ? 'replayed' : outcome.result
        if (result === 'ready') continue
        add(job, { entry: entry.id, result, as, why: whyOf(outcome, result) })
        if (result === 'replayed') results.audit.push(auditOf(job, entry, as))
      }
      for (const entry of missing) {
        add(job, { entry, result: 'refused', as: null, why: ['there is no such dead letter any more'] })
      }
      kept.next += ids.length
    } finally {
      await patiently(kept, () => {
        job.error = null
        save(kept, results)
      })
    }
  }

  const auditOf = (job: Job, { origin: position }: Entry, as: RecordPosition | null): AuditItem => ({
    at: now().toISOString(),
    by: job.by,
    what: 'DeadLetterReplayed',
    position,
    reason: null,
    as,
    edited: job.edited,
  })

  function begin(id: string, { by, fingerprint }: JobRequest, { entries, group, perSecond, edited }: NewJob): Job {
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
      ...{ replayed: 0, refused: 0, done: 0, outcomes: [], error: null },
    }
    const kept = { job, entries, next: 0, edited, fingerprint }
    save(kept)
    enqueue(kept)
    return job
  }

  async function end(kept: KeptJob, state: Job['state'], error: string | null = null): Promise<void> {
    const job = { ...kept.job, state, endedAt: now().toISOString(), error }
    stopped.delete(job.id)
    await patiently(kept, () => save({ ...kept, job, edited: null }))
  }

  return {
    /**
     * Starts a job, or returns the job of an earlier request with the same key.
     * @param prepare checks a new request and creates its job
     * @throws {MonitorError} `idempotency-key-reused` if the earlier request had another body
     */
    async start(request: JobRequest, prepare: () => Promise<NewJob>): Promise<Job> {
      const { by, key, fingerprint } = request
      if (key === undefined) return begin(newId(), request, await prepare())
      const id = deterministicId('resend', by, key)
      const stored = ledger.find(id)
      const earlier = stored ?? starting.get(id)
      if (earlier && (earlier.fingerprint ?? fingerprint) !== fingerprint) throw keyReused()
      if (earlier) return await earlier.job
      const job = prepare().then((made) => begin(id, request, made))
      starting.set(id, { fingerprint, job })
      try {
        return await job
      } finally {
        starting.delete(id)
      }
    },
    stop(id: string): Job | undefined {
      const job = ledger.find(id)?.job
      if (job?.state === 'running') stopped.add(id)
      return job
    },
    /**
     * Reads interrupted jobs from the ledger, and continues them. Each job waits until the index contains all earlier
     * replays.
     */
    async resume(): Promise<void> {
      await persistently(
        () => {
          if (!isClosing) for (const kept of ledger.running()) enqueue(kept)
        },
        () => {},
      )
    },
    async close(): Promise<void> {
      isClosing = true
      await running
    },
  }
}

const keyReused = () =>
  new MonitorError('idempotency-key-reused', 'Another request used this Idempotency-Key. Send a new key, or no key.')

function add(job: Job, outcome: Job['outcomes'][number]): void {
  job[outcome.result] += 1
  job.outcomes = [outcome, ...job.outcomes].slice(0, maxOutcomes)
}

/** Returns true if this job published the replay before an interruption, and could not save the result. */
function isOwn(intent: ReplayIntent | undefined, { result }: Outcome, as: RecordPosition | null): boolean {
  return result === 'done' && intent !== undefined && as !== null && BigInt(as.offset) >= intent.from
}

function whyOf(outcome: Outcome, result: Outcome['result']): string[] {
  if ('why' in outcome) return outcome.why
  return result === 'done' && 'as' in outcome ? [`already replayed as ${outcome.as}`] : []
}
