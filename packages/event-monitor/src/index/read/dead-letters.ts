import { dirname, join } from 'node:path'
import type { RecordPosition } from '@orderflow/kafka-log'
import type { ReadUpTo } from '@orderflow/service-kit/log'
import type { DeadLetterEntry, DeadLetterGroup } from '../../api/dead-letters.ts'
import type { ChosenEntry } from '../../jobs/ledger.ts'
import { entryView, type groupFields } from '../../model/dead-letters.ts'
import { isDamaged } from '../sqlite.ts'
import { type EntriesFile, openEntriesFile, removeEntriesFile } from './entries-file.ts'
import { causesIn, type FoundCause, positionLink, readOn, stateOf } from './entries-update.ts'
import type { Segments } from './segments.ts'

type State = DeadLetterEntry['state']

interface First {
  first: number
}
interface Tally {
  groupId: string
  services: string
  isOpen: number
  count: number
}

const sumOf = (tallies: readonly Tally[]) => tallies.reduce((sum, { count }) => sum + count, 0)

/**
 * Dead letters in the index, grouped by the failed record. `readDeadLetters` returns the same list from the log. The
 * list is in a file, because the number of dead letters has no limit.
 */
export class DeadLetterBook {
  readonly #segments: Segments
  #path = ''
  #file: EntriesFile | undefined

  constructor(segments: Segments) {
    this.#segments = segments
  }

  /** Reads some new rows. Returns true if there are more. */
  prepare(): boolean {
    return this.#use((file) => readOn(file, this.#segments))
  }

  groups(): { groups: DeadLetterGroup[]; others: number } {
    return this.#ask((file) => {
      const tallies = file.all<Tally & { fields: string }>(
        'SELECT tallies.*, fields FROM tallies JOIN groups ON groups.id = groupId',
      )
      const groups = [...Map.groupBy(tallies, ({ groupId }) => groupId)].map(([id, own]): DeadLetterGroup => {
        const [times] = file.all<Pick<DeadLetterGroup, 'oldest' | 'newest'>>(
          `SELECT (SELECT min(oldest) FROM causes WHERE groupId = ?1) AS oldest,
            (SELECT max(newest) FROM causes WHERE groupId = ?1) AS newest`,
          id,
        )
        return {
          id,
          services: [...new Set(own.flatMap(({ services }) => JSON.parse(services) as string[]))].sort(),
          ...(JSON.parse(own[0]?.fields ?? '{}') as ReturnType<typeof groupFields>),
          entries: sumOf(own),
          open: sumOf(own.filter(({ isOpen }) => isOpen === 1)),
          oldest: times?.oldest ?? '',
          newest: times?.newest ?? '',
        }
      })
      groups.sort((one, other) => other.open - one.open || other.entries - one.entries)
      return { groups, others: stateOf(file).others }
    })
  }

  /**
   * Returns entries, newest first, and their number on all pages. A page begins after the key of an entry, so entries
   * that arrive or are replayed in the meantime neither hide nor repeat others.
   * @param before `next` of the previous page
   */
  page(
    group: string | undefined,
    state: State | undefined,
    limit: number,
    before = Number.MAX_SAFE_INTEGER,
  ): { items: DeadLetterEntry[]; next: number | null; total: number } {
    return this.#ask((file) => {
      const states = state === undefined ? [0, 1] : [state === 'open' ? 1 : 0]
      const keys = states
        .flatMap((isOpen) => keysBefore(file, group, { isOpen, before, limit: limit + 1 }))
        .sort((one, other) => other - one)
      const shown = keys.slice(0, limit)
      const tallies = file.all<Tally>('SELECT * FROM tallies')
      const counted = tallies.filter(({ isOpen }) => states.includes(isOpen))
      return {
        items: this.#at(file, shown).map(({ cause, factsOf }) => entryView(cause, factsOf)),
        next: keys.length > limit ? (shown.at(-1) ?? null) : null,
        total: sumOf(counted.filter(({ groupId }) => group === undefined || groupId === group)),
      }
    })
  }

  /** Returns the entries that contain a dead letter with one of these ids, oldest first. */
  withIds(ids: readonly string[]): { found: FoundCause[]; readUpTo: ReadUpTo } {
    return this.#ask((file) => {
      const keys = file.all<First>(
        'SELECT DISTINCT first FROM ids WHERE id IN (SELECT value FROM json_each(?)) ORDER BY first',
        JSON.stringify(ids),
      )
      const found = this.#at(
        file,
        keys.map(({ first }) => first),
      )
      const readUpTo = JSON.parse(stateOf(file).readUpTo) as [string, string][]
      return { found, readUpTo: new Map(readUpTo.map(([partition, next]) => [partition, BigInt(next)])) }
    })
  }

  /** Returns the entries about records at these positions, and perhaps others. */
  about(positions: readonly RecordPosition[]): FoundCause[] {
    return this.#ask((file) => {
      const components = file.all<{ component: number }>(
        'SELECT DISTINCT component FROM links WHERE hash IN (SELECT value FROM json_each(?))',
        JSON.stringify(positions.map(positionLink)),
      )
      return components.flatMap(({ component }) => causesIn(file, this.#segments, component))
    })
  }

  openIn(group: string): ChosenEntry[] {
    return this.#ask((file) => {
      const sql = 'SELECT id, attempt FROM causes WHERE groupId = ? AND isOpen = 1 ORDER BY first'
      return file.all<ChosenEntry>(sql, group).map((one) => ({ ...one }))
    })
  }

  /** Returns the entries that contain a dead letter with one of these ids, oldest first, and the first unknown id. */
  chosen(ids: readonly string[]): { chosen: ChosenEntry[]; unknown: string | undefined } {
    return this.#ask((file) => {
      const rows = file.all<ChosenEntry & First & { wanted: string }>(
        `SELECT ids.id AS wanted, causes.first, causes.id, attempt FROM ids JOIN causes ON causes.first = ids.first
          WHERE ids.id IN (SELECT value FROM json_each(?)) ORDER BY causes.first`,
        JSON.stringify(ids),
      )
      const known = new Set(rows.map(({ wanted }) => wanted))
      const chosen = new Map(rows.map(({ first, id, attempt }) => [first, { id, attempt }]))
      return { chosen: [...chosen.values()], unknown: ids.find((id) => !known.has(id)) }
    })
  }

  close(): void {
    this.#file?.close()
    this.#file = undefined
  }

  #at(file: EntriesFile, keys: readonly number[]): FoundCause[] {
    return keys.flatMap((key) => {
      const [row] = file.all<{ component: number }>('SELECT component FROM causes WHERE first = ?', key)
      const causes = row ? causesIn(file, this.#segments, row.component) : []
      return causes.filter(({ first }) => first === key)
    })
  }

  #ask<Result>(question: (file: EntriesFile) => Result): Result {
    return this.#use((file) => {
      while (readOn(file, this.#segments));
      return question(file)
    })
  }

  /** Makes the list again if its file is damaged, because the segments have all data. */
  #use<Result>(work: (file: EntriesFile) => Result): Result {
    try {
      return work(this.#open())
    } catch (error) {
      if (!isDamaged(error)) throw error
      this.close()
      removeEntriesFile(this.#path)
      return work(this.#open())
    }
  }

  #open(): EntriesFile {
    const [segment] = this.#segments.of('dead')
    const path = segment ? join(dirname(segment.file), 'entries.sqlite') : ':memory:'
    if (path !== this.#path) this.close()
    this.#path = path
    this.#file ??= openEntriesFile(path)
    return this.#file
  }
}

interface Page {
  isOpen: number
  before: number
  limit: number
}

function keysBefore(file: EntriesFile, group: string | undefined, { isOpen, before, limit }: Page): number[] {
  const all = 'SELECT first FROM causes WHERE isOpen = ? AND first < ? ORDER BY first DESC LIMIT ?'
  const own = 'SELECT first FROM causes WHERE groupId = ? AND isOpen = ? AND first < ? ORDER BY first DESC LIMIT ?'
  const rows =
    group === undefined
      ? file.all<First>(all, isOpen, before, limit)
      : file.all<First>(own, group, isOpen, before, limit)
  return rows.map(({ first }) => first)
}
