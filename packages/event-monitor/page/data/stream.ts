import { signal } from '@preact/signals'
import { type Completeness, type Job, type LiveBatch, type LiveMessages, paths } from '../../src/api/index.ts'
import { readMessages } from '../lib/event-stream.ts'
import { withJob } from '../lib/jobs.ts'
import { RateWindow } from '../lib/live-counts.ts'
import { authorizationHeader, isRefusal, refusalOf, request } from './api.ts'
import { root } from './location.ts'
import { isShared, readShared } from './shared-stream.ts'

/**
 * `lost`: broken since the time in `since`; `away`: closed while the tab is hidden; `refused`: closed until the user
 * signs in or the request changes.
 */
type Connection = { state: 'connecting' | 'open' | 'away' | 'refused' } | { state: 'lost'; since: number }

export const connection = signal<Connection>({ state: 'connecting' })
export const completeness = signal<Completeness | null>(null)
export const perSecond = signal<number | null>(null)
/** Replay jobs that have changed since the page was opened. */
export const jobs = signal<ReadonlyMap<string, Job>>(new Map())

/** A filter that matches no event, so the stream sends only counters and jobs. */
const nothing = '?guid=00000000-0000-0000-0000-000000000000'
/** The page connects again after this time without a message. The monitor sends a message every second. */
const silenceMs = 6000
/** Time after which a hidden tab disconnects, to save the work for its counts. */
const awayMs = 5000

interface Listener {
  /** A filter without `from` and `to`. */
  search: string
  onHello: () => void
  onBatch: (batch: LiveBatch) => void
}

let listener: Listener | null = null
let source: AbortController | null = null
let retry: ReturnType<typeof setTimeout> | undefined
let silence: ReturnType<typeof setTimeout> | undefined
let leaving: ReturnType<typeof setTimeout> | undefined
let failures = 0

/** Subscribes a view to rows; null subscribes only to counters and jobs. */
export function listen(to: Listener | null): void {
  listener = to
  open()
}

export function keepConnected(): void {
  const follow = () => {
    clearTimeout(leaving)
    if (document.hidden) leaving = setTimeout(leave, awayMs)
    else connect()
  }
  document.addEventListener('visibilitychange', follow)
  addEventListener('pagehide', leave)
  addEventListener('pageshow', ({ persisted }) => persisted && follow())
  // A tab that was opened in the background gets no event.
  if (document.hidden) follow()
}

export function connect(): void {
  if (!source && connection.value.state !== 'refused') open()
}

function leave(): void {
  close()
  connection.value = { state: 'away' }
}

function close(): void {
  clearTimeout(retry)
  clearTimeout(silence)
  source?.abort()
  source = null
}

function open(): void {
  close()
  if (document.hidden && connection.value.state === 'away') return
  if (connection.value.state !== 'lost') connection.value = { state: 'connecting' }
  const current = new AbortController()
  source = current
  const take = takers()
  waitForMore()
  read(current.signal, ({ event, data }) => {
    if (current !== source) return
    waitForMore()
    take[event as keyof LiveMessages]?.(data as never)
  }).catch((error: unknown) => {
    if (current !== source) return
    if (isRefusal(error)) refused()
    else lost()
  })
}

/** Reads messages of the stream. @throws {ApiProblem} if the request fails, or an Error when the connection ends */
async function read(signal: AbortSignal, take: (message: { event: string; data: unknown }) => void): Promise<never> {
  const search = listener ? listener.search : nothing
  if (isShared()) {
    const authorization = authorizationHeader()
    const url = new URL(root + paths.live, location.href).href
    const problem = await readShared({ url, search, authorization }, signal, take)
    if (problem) throw refusalOf(problem, authorization)
  }
  // Uses `fetch`, because EventSource cannot send an authorization header.
  const response = await request(paths.live + search, { signal })
  await readMessages(response, ({ event = '', data }) => take({ event, data: JSON.parse(data) }))
  throw new Error('the event stream has ended')
}

function takers(): { [Name in keyof LiveMessages]: (message: LiveMessages[Name]) => void } {
  const window = new RateWindow()
  return {
    hello(hello) {
      failures = 0
      connection.value = { state: 'open' }
      completeness.value = hello.completeness
      listener?.onHello()
    },
    batch(batch) {
      window.add(Date.parse(batch.at), batch.received + batch.lost.received)
      perSecond.value = window.perSecond
      if (completeness.value) completeness.value = { ...completeness.value, ...batch.completeness }
      listener?.onBatch(batch)
    },
    job(job) {
      jobs.value = withJob(jobs.value, job)
    },
  }
}

function waitForMore(): void {
  clearTimeout(silence)
  silence = setTimeout(lost, silenceMs)
}

function refused(): void {
  close()
  connection.value = { state: 'refused' }
}

function lost(): void {
  close()
  perSecond.value = null
  if (connection.value.state !== 'lost') connection.value = { state: 'lost', since: Date.now() }
  failures += 1
  retry = setTimeout(open, Math.min(10_000, 500 * 2 ** Math.min(failures, 5)))
}
