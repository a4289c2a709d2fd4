import { batch, type Signal, signal } from '@preact/signals'
import {
  type Completeness,
  type EventFilter,
  type EventRow,
  type Facets,
  type LiveBatch,
  type Page,
  type Problem,
  paths,
  type Rates,
} from '../../../src/api/index.ts'
import { announce } from '../../data/announce.ts'
import { get, queryOf } from '../../data/api.ts'
import { asProblem, isPassing } from '../../data/load.ts'
import { listen } from '../../data/stream.ts'
import { searchOf } from '../../lib/filters.ts'
import { counted } from '../../lib/format.ts'
import { addedTo, grown, type Strip, stripOf } from '../../lib/live-counts.ts'
import { positionText } from '../../lib/route.ts'
import { type Line, RowBuffer } from '../../lib/rows.ts'

/** Exact numbers of events since the view was opened. */
export interface Counters {
  matched: number
  invalid: number
  /** Events that the browser was too slow to receive. */
  lost: number
  /** Events that the view counts but does not show. */
  leftOut: number
}

const pageSize = 100
/** The time after which the view loads its events although the stream has not begun. */
const lateMs = 500

export class LiveSession {
  readonly lines: Signal<readonly Line[]> = signal([])
  readonly facets: Signal<Facets | null> = signal(null)
  readonly strip: Signal<Strip | null> = signal(null)
  readonly counters: Signal<Counters> = signal({ matched: 0, invalid: 0, lost: 0, leftOut: 0 })
  readonly total: Signal<{ total: number; isAtLeast: boolean; complete: Completeness } | null> = signal(null)
  /** Number of new events since the user paused the view; null while the view runs. */
  readonly waiting: Signal<number | null> = signal(null)
  readonly problem: Signal<Problem | null> = signal(null)
  readonly older: Signal<'more' | 'loading' | 'end'> = signal('more')
  /** True after the first page of events was loaded. */
  readonly isReady = signal(false)

  readonly #filter: EventFilter
  readonly #seconds: number
  readonly #buffer = new RowBuffer()
  readonly #ended = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined
  #cursor: { after: string; next: string } | null = null
  #late: ReturnType<typeof setTimeout> | undefined
  #list = 0
  /** The rows of the stream since the request for the list that is loading, newest first. The list may lack them. */
  #early: EventRow[] = []
  #unshown: LiveBatch[] = []

  constructor(filter: EventFilter, seconds: number) {
    this.#filter = filter
    this.#seconds = seconds
  }

  /** False for a filter with an end time, because such a filter matches no new events. */
  get isLive(): boolean {
    return this.#filter.to === undefined
  }

  start(): void {
    const { from: _, to: __, ...untimed } = this.#filter
    if (!this.isLive) {
      listen(null)
      this.#load()
      return
    }
    // An event between the list and the stream would be in neither of them, so the stream begins first.
    this.#late = setTimeout(() => this.#load(), lateMs)
    listen({ search: searchOf(untimed), onHello: () => this.#load(), onBatch: (each) => this.#onBatch(each) })
  }

  end(): void {
    this.#ended.abort()
    clearTimeout(this.#late)
    clearTimeout(this.#timer)
    listen(null)
  }

  #load(): void {
    clearTimeout(this.#late)
    if (this.waiting.value === null) void this.newest()
    void this.#summaries()
  }

  stop(): void {
    if (this.isLive && this.waiting.value === null) this.waiting.value = 0
  }

  goOn(): void {
    if (this.waiting.value === null) return
    const missed = this.waiting.value
    this.waiting.value = null
    if (missed > 0 || this.#buffer.lines.length > 4 * pageSize) void this.newest()
  }

  async newest(): Promise<void> {
    const list = this.#newList()
    this.#early = []
    try {
      const page = await this.#ask<Page<EventRow>>(paths.events, { limit: pageSize })
      if (list !== this.#list) return
      batch(() => {
        this.#buffer.clear()
        this.#buffer.addNewer(page.items, 0)
        this.#buffer.addNewer(this.#early, 0)
        this.#showPage(page)
        const { total, isAtLeast } = page.complete
        this.total.value = { total, isAtLeast, complete: page.complete }
        this.isReady.value = true
        this.problem.value = null
      })
    } catch (error) {
      this.#failed(error, () => this.newest())
    }
  }

  /** Returns the number of a list that replaces the shown one, when it is loaded. */
  #newList(): number {
    this.#list += 1
    return this.#list
  }

  async goBack(): Promise<void> {
    if (this.older.value !== 'more' || !this.isReady.value) return
    this.stop()
    this.older.value = 'loading'
    const before = this.#buffer.oldest
    try {
      const isNext = before && this.#cursor?.after === positionText(before.position)
      // Includes the millisecond of the oldest row, because the next page can have more events of this millisecond.
      const to = before && new Date(Date.parse(before.at) + 1).toISOString()
      const where = isNext
        ? { cursor: this.#cursor?.next }
        : { to: this.#filter.to && before ? earlier(this.#filter.to, to) : to }
      const list = this.#list
      const page = await this.#ask<Page<EventRow>>(paths.events, { limit: pageSize, ...where })
      // The list was loaded again in the meantime, so this page would follow other rows.
      if (list !== this.#list) {
        if (this.older.value === 'loading') this.older.value = 'more'
        return
      }
      batch(() => {
        this.#buffer.addOlder(page.items)
        this.#showPage(page)
      })
    } catch (error) {
      this.older.value = 'more'
      this.#failed(error)
    }
  }

  #showPage({ items, next }: Page<EventRow>): void {
    const last = items.at(-1)
    this.#cursor = last && next ? { after: positionText((this.#buffer.oldest ?? last).position), next } : null
    this.lines.value = this.#buffer.lines
    this.older.value = next === null ? 'end' : 'more'
  }

  #onBatch(came: LiveBatch): void {
    this.#early = [...came.rows, ...this.#early].slice(0, pageSize)
    batch(() => {
      const matched = came.matched + came.lost.matched
      const leftOut = matched - came.rows.length
      const { counters } = this
      counters.value = {
        matched: counters.value.matched + matched,
        invalid: counters.value.invalid + came.invalid,
        lost: counters.value.lost + came.lost.matched,
        leftOut: counters.value.leftOut + leftOut,
      }
      if (this.total.value) this.total.value = { ...this.total.value, total: this.total.value.total + matched }
      if (this.waiting.value !== null) this.waiting.value += matched
      else if (matched > 0 && this.isReady.value) {
        this.#buffer.addNewer(came.rows, leftOut)
        this.lines.value = this.#buffer.lines
      }
    })
    this.#unshown.push(came)
    // Updates the counts only every half second.
    this.#timer ??= setTimeout(() => this.#count(), 500)
  }

  #count(): void {
    this.#timer = undefined
    const batches = this.#unshown
    this.#unshown = []
    batch(() => {
      for (const each of batches) {
        const matched = each.matched + each.lost.matched
        if (this.strip.value) this.strip.value = grown(this.strip.value, Date.parse(each.at), matched, each.invalid)
        if (this.facets.value) this.facets.value = addedTo(this.facets.value, each)
      }
    })
    const matched = batches.reduce((sum, each) => sum + each.matched, 0)
    if (matched > 0) announce(`${counted(matched, 'new event')}`)
    if (batches.some(({ invalid }) => invalid > 0)) void this.#whys()
  }

  async #summaries(): Promise<void> {
    try {
      const { from, to } = this.#filter
      const span = from
        ? Math.ceil((Date.parse(to ?? new Date().toISOString()) - Date.parse(from)) / 1000)
        : this.#seconds
      const seconds = Math.min(604_800, Math.max(60, span))
      const [facets, rates] = await Promise.all([
        this.#ask<Facets>(paths.facets, {}),
        this.#ask<Rates>(paths.rates, { seconds }),
      ])
      batch(() => {
        this.facets.value = facets
        this.strip.value = stripOf(rates)
      })
    } catch (error) {
      this.#failed(error, () => this.#summaries())
    }
  }

  #reasonsLoadedAt = 0
  /** Loads the counts by reason, which batches do not contain. */
  async #whys(): Promise<void> {
    if (Date.now() - this.#reasonsLoadedAt < 5000) return
    this.#reasonsLoadedAt = Date.now()
    try {
      const facets = await this.#ask<Facets>(paths.facets, {})
      this.facets.value = facets
    } catch {
      // The old counts stay.
    }
  }

  #ask<Answer>(path: string, more: Record<string, string | number | undefined>): Promise<Answer> {
    const { to, ...filter } = this.#filter
    const query = new URLSearchParams(searchOf(more.to ? filter : this.#filter))
    for (const [name, value] of new URLSearchParams(queryOf(more))) query.set(name, value)
    return get<Answer>(`${path}?${query}`, this.#ended.signal)
  }

  #failed(error: unknown, again?: () => Promise<void>): void {
    if (this.#ended.signal.aborted) return
    const problem = asProblem(error)
    this.problem.value = problem
    if (again && isPassing(problem)) setTimeout(() => this.#ended.signal.aborted || again(), 3000)
  }
}

const earlier = (one: string, other: string | undefined) => (other && Date.parse(other) < Date.parse(one) ? other : one)
