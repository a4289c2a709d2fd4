import { invalid, pathId, queryId, type Route } from '@orderflow/service-kit'
import type { Conversation, ConversationsOf } from '../api/conversation.ts'
import type { EventDetail, EventRow, Page, RecordPosition, RecordPositions } from '../api/events.ts'
import type { ServiceRole } from '../model/conversation.ts'
import type { Monitor } from '../monitor.ts'
import { MonitorError } from '../monitor-error.ts'
import { answer, filterInput, pageInputs, pageOf, positionInput } from './requests.ts'

export const notKept = (what: string) =>
  new MonitorError('not-kept', `There is no ${what} in the index. It may be older than the index, or not indexed yet.`)

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
      handle: async ({ filter, limit, cursor }): Promise<Page<EventRow>> =>
        pageOf(await index.ask('events', filter, limit, cursor), index.completeness()),
    }),
    answer({
      path: '/v1/events/{topic}/{partition}/{offset}',
      summary: 'Get an event',
      input: { position: positionInput },
      refusals: ['not-kept'],
      async handle({ position }): Promise<EventDetail> {
        const detail = await detailOf(monitor, position)
        if (detail) return detail
        throw notKept('event')
      },
    }),
    answer({
      path: '/v1/ids/{id}',
      summary: 'Find events by Id',
      input: { id: pathId('id') },
      refusals: ['not-kept'],
      async handle({ id }): Promise<RecordPositions> {
        const positions = await index.ask('positions', id)
        if (positions.length > 0) return { positions, complete: index.completeness() }
        throw notKept(`event ${id}`)
      },
    }),
  ]
}

/** @param at arrival of the event, needed if its topic was created again (`Reads.event`) */
export async function detailOf(
  { index, trustOf, tracePage, isSigned }: Monitor,
  position: RecordPosition,
  at?: number,
): Promise<EventDetail | undefined> {
  const event = await index.ask('event', position, at)
  if (!event) return undefined
  const { row, body, ...around } = event
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
      publisher: isEnvelope ? trustOf(row.appId) : null,
      signature: signatureOf(),
      refusal: row.validity === 'untrusted' ? (faults[0]?.message ?? null) : null,
    },
    ...around,
    traceUrl: tracePage ? `${tracePage.replace(/\/$/, '')}/trace/${row.traceId.replaceAll('-', '')}` : null,
    complete: index.completeness(),
  }

  function signatureOf(): EventDetail['trust']['signature'] {
    if (!isSigned) return 'not-asked'
    if (!headers.some(({ name }) => name === 'signature')) return 'none'
    return row.validity === 'untrusted' ? 'wrong' : trustOf(row.appId) === 'service' ? 'ours' : 'none'
  }
}

export function conversationRoutes({ index, services, status }: Monitor): Route[] {
  const rolesNow = async (): Promise<ServiceRole[]> => {
    const { groups } = await status()
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
        const conversation = await index.ask('conversation', id, await rolesNow())
        if (conversation.steps.length > 0) return { ...conversation, complete: index.completeness() }
        throw notKept(`conversation ${id}`)
      },
    }),
    answer({
      path: '/v1/conversations',
      summary: 'Find conversations by an Id or another GUID',
      input: { guid: queryId('guid') },
      async handle({ guid }): Promise<ConversationsOf> {
        if (guid === undefined) throw invalid([{ pointer: 'guid', detail: 'is missing: send a GUID' }])
        return { items: await index.ask('conversationsOf', guid), complete: index.completeness() }
      },
    }),
  ]
}
