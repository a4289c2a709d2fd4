import { isoTime, positionText } from '@orderflow/kafka-log'
import type { Reaction } from '@orderflow/service-kit/application'
import type { RejectedAttempt } from '@orderflow/service-kit/log'
import type { Conversation, ConversationsOf } from '../../api/conversation.ts'
import type { DeadLetterEntry } from '../../api/dead-letters.ts'
import type { EventDetail, EventFilter, EventRow, Facets, Gap, RecordPosition } from '../../api/events.ts'
import { conversationOf, type ServiceRole } from '../../model/conversation.ts'
import { facetsOf } from '../../model/counts.ts'
import { entryView, faultsOf, type Rejection } from '../../model/dead-letters.ts'
import type { KindCount } from '../../model/kind.ts'
import { type Indexed, indexedIds, payloadGuids, rowOf } from '../../model/row.ts'
import type { SegmentFacts } from '../segment.ts'
import { DeadLetterBook } from './dead-letters.ts'
import { eventOf, Unanswered } from './missing.ts'
import { countByTime, countKinds, eventAbout, eventsAt, findRows, queryOf, withGuid, withKey } from './search.ts'
import { Segments } from './segments.ts'

const maxConversation = 5_000
const maxEffects = 100
const newest = Number.MAX_SAFE_INTEGER

export type Reads = ReturnType<typeof createReads>

/** The queries run in their own thread, so they can be synchronous. */
export function createReads(reactions: readonly Reaction[]) {
  const segments = new Segments()
  const book = new DeadLetterBook(segments)
  const unanswered = new Unanswered(reactions)

  const queryFor = (filter: EventFilter) => withKey(segments, queryOf(filter))
  /** Returns the id of the entry that contains an app's dead letter about the record at this position. */
  const entryAbout = (position: RecordPosition, app: string): string | undefined => {
    const isOwn = ({ attempt, entry }: Rejection) =>
      entry.app === app && positionText(attempt.position) === positionText(position)
    return book.about([position]).find(({ cause }) => cause.rejections.flat().some(isOwn))?.cause.entry.id
  }
  const inConversation = (correlationId: string): Indexed[] =>
    withGuid(segments, correlationId, { limit: maxConversation + 1, ascending: true }).filter(
      ({ body }) => indexedIds(body).correlationId === correlationId,
    )
  const countOf = (kinds: readonly KindCount[]) => kinds.reduce((sum, { count }) => sum + count, 0)

  return {
    follow: (facts: readonly SegmentFacts[]) => segments.follow(facts),

    events(filter: EventFilter, limit: number, cursor: number = newest) {
      const query = queryFor(filter)
      const rows = findRows(segments, query, cursor, limit + 1)
      const items = rows.slice(0, limit)
      const last = items.at(-1)
      // If this page has every match of a GUID or position, its number of rows is the total.

      const isAll = query.position || (query.guid && cursor === newest && rows.length <= limit)
      if (isAll) return { items: items.map(rowOf), next: null, total: items.length, isAtLeast: false }
      const { kinds, isAtLeast } = countKinds(segments, query)
      return {
        items: items.map(rowOf),
        next: rows.length > limit && last ? last.seq : null,
        total: Math.max(countOf(kinds), items.length),
        isAtLeast,
      }
    },

    facets(filter: EventFilter): Omit<Facets, 'complete'> {
      const { kinds, isAtLeast } = countKinds(segments, queryFor(filter))
      return { ...facetsOf(kinds), isAtLeast }
    },

    rates(filter: EventFilter, from: number, to: number, stepMs: number) {
      const { count, invalid } = countByTime(segments, { ...queryFor(filter), from, to }, { from, to, stepMs })
      return { from: isoTime(from), step: stepMs / 1_000, counts: count, invalid }
    },

    /**
     * @param at arrival of the record, needed if its topic was created again; default: the newest record at the
     * position
     */
    event(position: RecordPosition, at?: number) {
      const there = eventsAt(segments, position)
      const record = at === undefined ? there[0] : there.find((one) => one.at === at)
      if (!record) return undefined
      const row = rowOf(record)
      const causeOf = (id: string) =>
        withGuid(segments, id, { limit: 50 })
          .map(rowOf)
          .find((one) => one.id === id && !one.of)
      const related = withGuid(segments, row.id, { limit: 1_000, ascending: true }).map(rowOf)
      const about = withGuid(segments, positionText(position), { limit: maxEffects })
        .filter(
          (one) => one.kind.validity !== 'dead-letter' || eventAbout(segments, one.body, one.at)?.seq === record.seq,
        )
        .map(rowOf)
      const failed = eventAbout(segments, record.body, record.at)
      const neighbour = (step: number): RecordPosition | null => {
        const offset = String(BigInt(position.offset) + BigInt(step))
        return eventsAt(segments, { ...position, offset }).length > 0 ? { ...position, offset } : null
      }
      const deadLetters = about.filter(({ validity }) => validity === 'dead-letter')
      return {
        row,
        body: record.body,
        cause: row.of ? (failed ? rowOf(failed) : null) : row.causationId ? (causeOf(row.causationId) ?? null) : null,
        effects: related.filter(({ causationId, id }) => causationId === row.id && id !== row.id).slice(0, maxEffects),
        deadLetters,
        entries: this.entriesAt([row, ...deadLetters].filter(({ validity }) => validity === 'dead-letter')),
        previous: neighbour(-1),
        following: neighbour(1),
      }
    },

    /**
     * Returns an event and the newest dead letter about it. For the position of a dead letter, returns this dead letter and its event. Each part may be
     * missing in the index.
     */
    rejection(position: RecordPosition) {
      const there = this.event(position)
      if (!there) return undefined
      const { row, cause, deadLetters } = there
      const read = (one: EventRow | null | undefined) =>
        one ? this.event(one.position, Date.parse(one.at)) : undefined
      if (row.validity === 'dead-letter') return { event: read(cause), deadLetter: there }
      const [newest] = deadLetters.toSorted((a, b) => b.at.localeCompare(a.at))
      return { event: there, deadLetter: read(newest) }
    },

    /** Returns the failed records of the event at a position, oldest first. The list is empty for an event that all services accepted. */
    attemptsAt(position: RecordPosition): RejectedAttempt[] {
      const isThere = ({ attempt }: Rejection) => positionText(attempt.position) === positionText(position)
      const cause = book.about([position]).find(({ cause }) => cause.rejections.flat().some(isThere))?.cause
      return (cause?.rejections ?? []).flatMap((some) =>
        some.slice(0, 1).map(({ attempt }) => ({ attempt, rejectedBy: some.map(({ entry }) => entry.app) })),
      )
    },

    entriesAt(rows: readonly EventRow[]): EventDetail['entries'] {
      const positions = new Set(rows.map(({ position }) => positionText(position)))
      return book
        .about(rows.flatMap(({ of }) => of ?? []))
        .filter(({ cause: { rejections } }) =>
          rejections.flat().some(({ attempt }) => positions.has(positionText(attempt.deadLetterPosition))),
        )
        .map(({ cause, factsOf }) => {
          const { id, services, reason, state, attempts } = entryView(cause, factsOf)
          const all = attempts.flatMap(({ rejections }) => rejections.map(({ deadLetter }) => deadLetter))
          return { id, services, reason, state, deadLetters: all }
        })
    },

    row(position: RecordPosition): EventRow | undefined {
      const [record] = eventsAt(segments, position)
      return record && rowOf(record)
    },

    positions(id: string): RecordPosition[] {
      const rows = withGuid(segments, id, { limit: 200 }).map(rowOf)
      return rows.filter((row) => row.id === id && row.of === null).map(({ position }) => position)
    },

    conversation(correlationId: string, services: readonly ServiceRole[]): Omit<Conversation, 'complete'> {
      const records = inConversation(correlationId)
      const kept = records.slice(0, maxConversation)
      const notes = kept.flatMap((one) => notesAbout(segments, one))
      const isWhole = records.length === kept.length
      return { ...conversationOf(correlationId, [...kept, ...notes], services, isWhole), total: records.length }
    },

    /** Returns at most `most` GUIDs that are in Payloads of a conversation's events with these names. */
    idsIn(correlationId: string, names: readonly string[], most: number): string[] {
      const events = inConversation(correlationId).filter(({ kind }) => names.includes(kind.name ?? ''))
      return [...new Set(events.flatMap(({ body }) => payloadGuids(body.document)))].slice(0, most)
    },

    conversationsOf(guid: string): ConversationsOf['items'] {
      // A note belongs to no conversation: its ids derive from its position.
      const rows = withGuid(segments, guid, { limit: 1_000, ascending: true })
        .map(rowOf)
        .filter(({ validity }) => validity !== 'replay-note')
      return [...Map.groupBy(rows, (row) => row.correlationId)].map(([correlationId, own]) => ({
        correlationId,
        events: own.length,
        from: own[0]?.at ?? '',
        to: own.at(-1)?.at ?? '',
        first: own[0]?.position as RecordPosition,
      }))
    },

    kinds: (): KindCount[] => countKinds(segments, queryOf({})).kinds,

    missing(moment: number, seconds: number | undefined, limit: number) {
      unanswered.read(segments)
      const waiting = unanswered.at(moment, seconds)
      const events = waiting.slice(0, limit).flatMap(({ seq, reaction }) => {
        const event = eventOf(segments, seq)
        return event ? { row: rowOf(event), reaction, entry: entryAbout(event.position, reaction.by) } : []
      })
      return { events, total: waiting.length, isAtLeast: unanswered.isFull }
    },

    deadLetterGroups: () => book.groups(),

    deadLetterPage: (
      group: string | undefined,
      state: DeadLetterEntry['state'] | undefined,
      limit: number,
      cursor?: number,
    ) => book.page(group, state, limit, cursor),

    /**
     * Returns the entries that service-kit can replay, the faults of these entries, and the positions up to which the
     * dead-letter topics are read.
     * @param ids for each wanted entry, the id of one of its dead letters; the returned entry has the same id
     */
    rawEntries(ids: readonly string[]) {
      const { found, readUpTo } = book.withIds(ids)
      const wanted = new Set(ids)
      return {
        entries: found.flatMap(({ cause, factsOf }) =>
          cause.entries
            .filter(({ id }) => wanted.has(id))
            .map(({ id }) => ({
              entry: { ...cause.entry, id },
              faults: faultsOf(cause, factsOf),
              view: entryView(cause, factsOf),
            })),
        ),
        readUpTo,
      }
    },

    /**
     * Returns the entries with these ids, or all open entries of a group, oldest first, with their current attempts.
     * Also returns the first unknown id.
     */
    chosenEntries: ({ ids, group = '' }: { ids?: readonly string[] | undefined; group?: string | undefined }) =>
      ids ? book.chosen(ids) : { chosen: book.openIn(group), unknown: undefined },

    gaps(): Gap[] {
      const sql = `SELECT topic, partition, CAST(start AS TEXT) AS "from", CAST(next AS TEXT) AS "to", at, why FROM gaps
        ORDER BY at DESC LIMIT 100`
      const rows = segments.all().flatMap((segment) => segment.all<Omit<Gap, 'at'> & { at: number }>(sql))
      return rows.slice(0, 100).map((row) => ({ ...row, at: isoTime(row.at) }))
    },

    /** Reads a few new rows for dead letters and missing reactions. Returns true if there are more. */
    prepare: (): boolean => [book.prepare(), unanswered.read(segments, 250)].includes(true),

    close() {
      book.close()
      segments.close()
    },
  }
}

function notesAbout(segments: Segments, { kind, body }: Indexed): Indexed[] {
  if (kind.validity !== 'dead-letter' || !body.of) return []
  return withGuid(segments, positionText(body.of), { limit: 20 }).filter((one) => one.kind.validity === 'replay-note')
}
