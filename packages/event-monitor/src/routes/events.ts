import { invalid, pathId, queryId, type Route } from '@orderflow/service-kit'
import type { Conversation, ConversationsOf } from '../api/conversation.ts'
import type { EventDetail, EventRow, Fixture, Page, Place, Places } from '../api/events.ts'
import type { ServiceRole } from '../model/conversation.ts'
import { fixtureOf } from '../model/masked.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { answer, filterInput, pageInputs, placeInput } from './requests.ts'

export const notKept = (what: string) =>
  new MonitorError('not-kept', `There is no ${what} here: older than what is kept, not indexed yet, or never there.`)

export function eventRoutes(monitor: Monitor): Route[] {
  const { index } = monitor
  return [
    answer({
      path: '/v1/events',
      summary: 'List events, newest first',
      input: {
        filter: filterInput,
        ...pageInputs,
      },
      async handle({ filter, limit, cursor }): Promise<Page<EventRow>> {
        const { items, next, total, isAtLeast } = await index.ask('events', filter, limit, cursor)
        return {
          items,
          next: next === null ? null : String(next),
          complete: { ...index.truth(), shown: items.length, total, isAtLeast },
        }
      },
    }),
    answer({
      path: '/v1/events/{topic}/{partition}/{offset}',
      summary: 'Get an event',
      input: { place: placeInput },
      refusals: ['not-kept'],
      async handle({ place }): Promise<EventDetail> {
        const found = await detailOf(monitor, place)
        if (found) return found
        throw notKept('event')
      },
    }),
    answer({
      path: '/v1/events/{topic}/{partition}/{offset}/fixture',
      summary: 'Get an event as a fixture',
      input: { place: placeInput },
      refusals: ['not-kept'],
      async handle({ place }): Promise<Fixture> {
        const found = await index.ask('event', place)
        if (!found) throw notKept('event')
        const { name, validity } = found.row
        return fixtureOf({ name, validity, body: found.body, place })
      },
    }),
    answer({
      path: '/v1/ids/{id}',
      summary: 'Find events by Id',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<Places> {
        const places = await index.ask('places', id)
        if (places.length > 0) return { places, complete: index.truth() }
        throw notKept(`event ${id}`)
      },
    }),
  ]
}

/** All about one event; undefined when the index does not have it. `at` tells it from others at its place (`Reads.event`). */
export async function detailOf(
  { index, standingOf, tracePage, isSigned }: Monitor,
  place: Place,
  at?: number,
): Promise<EventDetail | undefined> {
  const found = await index.ask('event', place, at)
  if (!found) return undefined
  const { row, body, ...around } = found
  const { document = null, note = null, masked = [], key = null, headers = [], faults = [] } = body
  const isEnvelope = row.appId !== null
  return {
    row,
    document,
    documentNote: note,
    masked,
    key,
    headers,
    faults,
    trust: {
      publisher: isEnvelope ? standingOf(row.appId) : null,
      signature: signatureOf(),
      refusal: row.validity === 'untrusted' ? (faults[0]?.message ?? null) : null,
    },
    cause: around.cause,
    effects: around.effects,
    deadLetters: around.deadLetters,
    entries: around.entries,
    previous: around.previous,
    following: around.following,
    traceUrl: tracePage ? `${tracePage.replace(/\/$/, '')}/trace/${row.traceId.replaceAll('-', '')}` : null,
    complete: index.truth(),
  }

  function signatureOf(): EventDetail['trust']['signature'] {
    if (!isSigned) return 'not-asked'
    if (!headers.some(({ name }) => name === 'signature')) return 'none'
    return row.validity === 'untrusted' ? 'wrong' : standingOf(row.appId) === 'service' ? 'ours' : 'none'
  }
}

export function conversationRoutes({ index, services, see }: Monitor): Route[] {
  /** With how far each group is. */
  const rolesNow = async (): Promise<ServiceRole[]> => {
    const { groups } = await see()
    return services.map(({ name, consumes }) => {
      const own = groups.filter(({ group }) => group === name)
      const positions = new Map(own.map(({ topic, partition, position }) => [`${topic}/${partition}`, position]))
      return { name, consumes, positions }
    })
  }
  return [
    answer({
      path: '/v1/conversations/{correlationId}',
      summary: 'Get a conversation',
      input: { id: pathId('correlationId') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<Conversation> {
        const found = await index.ask('conversation', id, await rolesNow())
        if (found.steps.length > 0) return { ...found, complete: index.truth() }
        throw notKept(`conversation ${id}`)
      },
    }),
    answer({
      path: '/v1/conversations',
      summary: 'Find conversations by any Id',
      input: { guid: queryId('guid') },
      async handle({ guid }): Promise<ConversationsOf> {
        if (guid === undefined) throw invalid([{ pointer: 'guid', detail: 'is missing' }])
        return { items: await index.ask('conversationsOf', guid), complete: index.truth() }
      },
    }),
  ]
}
