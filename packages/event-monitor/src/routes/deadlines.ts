import { mayShow, parseGuid } from '@orderflow/envelope'
import { HttpProblem, type Input, invalid, pathId, type Route, unavailable } from '@orderflow/service-kit'
import type { DeadLetterEntry } from '../api/dead-letters.ts'
import type {
  ConversationDeadlines,
  Deadlines,
  FireRequest,
  OpenDeadline,
  ServiceDeadlines,
  UndecidedDeadline,
} from '../api/deadlines.ts'
import { deadlinePassed } from '../model/conversation.ts'
import type { Monitor } from '../monitor.ts'
import type { WatchedService } from '../services.ts'
import { notKept } from './events.ts'
import { answer, bodyInput, nameOf } from './requests.ts'

/** A service reads many documents for its list, and waits for Kafka when it fires a deadline. */
const timeoutMs = 10_000
const maxItems = 100
/** The largest number of ids in a conversation that a service is asked about. */
const maxIds = 20

/** Reads the caller's key or token, which the monitor sends to services. So a service applies its own rules. */
const credentialInput: Input<string | undefined> = { read: ({ headers }) => headers.authorization, problems: [] }

const chosenFields = ['service', 'entity', 'id', 'deadline', 'due'] as const

const chosenInput = bodyInput<FireRequest>(
  'FireRequest',
  Object.fromEntries(chosenFields.map((field) => [field, { type: 'string', maxLength: 300 }])),
  (body) => {
    for (const field of chosenFields) {
      const value = body[field]
      if (typeof value !== 'string' || value.length > 300)
        throw invalid([{ pointer: `/${field}`, detail: 'must be a text of at most 300 characters' }])
    }
    if (!parseGuid(body.id))
      throw invalid([{ pointer: '/id', detail: 'must be a GUID: use the page of the service for other ids' }])
    return body as unknown as FireRequest
  },
  chosenFields,
)

/** An answer of a service: its body, or the problem in words. */
type Asked<T> = { body: T; status: number } | { problem: string; status: number; code: string; title: string }

async function ask<T>(
  { url }: WatchedService,
  path: string,
  credential: string | undefined,
  sent?: object,
): Promise<Asked<T>> {
  const none = { status: 0, code: 'unavailable', title: 'Not available right now' }
  try {
    const response = await fetch(`${url}/v1/deadlines${path}`, {
      ...(sent && { method: 'POST', body: JSON.stringify(sent) }),
      headers: { 'content-type': 'application/json', ...(credential && { authorization: credential }) },
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { status } = response
    const body = (await response.json()) as object
    if (response.ok) return { body: body as T, status }
    const {
      title = 'no reason',
      detail = title,
      type = '',
    } = body as Partial<Record<'title' | 'detail' | 'type', string>>
    return { problem: `it answers ${status}: ${detail}`, status, code: type.split(':').at(-1) ?? '', title }
  } catch (error) {
    return {
      problem: (error as Error).name === 'TimeoutError' ? 'it does not answer in time' : 'it does not answer',
      ...none,
    }
  }
}

/** The relevant deadlines of a service, as it returns them. */
type Answered = Omit<Extract<ServiceDeadlines, { problem: null }>, 'service' | 'problem'>

export function deadlineRoutes(monitor: Monitor): Route[] {
  const { index, services, ledger, now } = monitor
  const owners = services.filter(({ publishes }) => Object.values(publishes).flat().includes(deadlinePassed))

  async function listOf(service: WatchedService, credential: string | undefined): Promise<ServiceDeadlines> {
    const { name } = service
    const asked = await ask<Answered>(service, `?limit=${maxItems}`, credential)
    if ('problem' in asked) return { service: name, problem: asked.problem }
    const items = asked.body.items.map((item) => ({ ...item, ...shownIn(name, item) }))
    return { ...asked.body, service: name, problem: null, items }
  }

  async function undecided(): Promise<Pick<Deadlines, 'undecided' | 'undecidedTotal'>> {
    const { groups } = await index.ask('deadLetterGroups')
    const own = groups.filter(({ name, open }) => name === deadlinePassed && open > 0)
    const pages = await Promise.all(own.map(({ id }) => index.ask('deadLetterPage', id, 'open', maxItems)))
    const entries = pages.flatMap(({ items }) => items).slice(0, maxItems)
    return {
      undecided: (await Promise.all(entries.map(undecidedIn))).toSorted((a, b) =>
        (b.at ?? '').localeCompare(a.at ?? ''),
      ),
      undecidedTotal: own.reduce((sum, { open }) => sum + open, 0),
    }
  }

  async function undecidedIn({ id: entry, origin, services, attempts }: DeadLetterEntry): Promise<UndecidedDeadline> {
    const position = attempts.at(-1)?.position ?? origin
    const event = await index.ask('event', position)
    const { Payload } = Object(event?.body.document) as { Payload?: unknown }
    const { Entity, Deadline } = Object(Payload) as Record<string, unknown>
    const shown = (name: string, value: unknown) => (typeof value === 'string' && mayShow(name, value) ? value : null)
    return {
      ...{ entry, position, at: event?.row.at ?? null, correlationId: event?.row.correlationId ?? null },
      service: services.map(({ app }) => app).join(', '),
      reason: services.map(({ reason, problem }) => [reason, problem?.message].filter(Boolean).join(': ')).join('; '),
      ...{ entity: shown('Entity', Entity), deadline: shown('Deadline', Deadline) },
    }
  }

  /** Asks a service about the entities whose ids are in the events that it publishes. */
  async function openIn(
    correlationId: string,
    service: WatchedService,
    credential: string | undefined,
  ): Promise<ConversationDeadlines> {
    const ids = await index.ask('idsIn', correlationId, Object.values(service.publishes).flat(), maxIds)
    const { name } = service
    const answers = await Promise.all(
      ids.map((id) => ask<{ items: OpenDeadline[] }>(service, `/${encodeURIComponent(id)}`, credential)),
    )
    const failed = answers.find((asked) => 'problem' in asked && asked.status !== 404)
    return {
      items: answers.flatMap((asked) => ('body' in asked ? asked.body.items.map((item) => shownIn(name, item)) : [])),
      problems: failed && 'problem' in failed ? [{ service: name, problem: failed.problem }] : [],
    }
  }

  return [
    answer({
      path: '/v1/deadlines',
      scope: 'deadlines:read',
      summary: 'List open deadlines of all services',
      description: 'A service returns the deadlines of the tenant of your key or token.',
      input: { credential: credentialInput },
      async handle({ credential }): Promise<Deadlines> {
        const [lists, open] = await Promise.all([
          Promise.all(owners.map((one) => listOf(one, credential))),
          undecided(),
        ])
        return { services: lists, ...open, complete: index.completeness() }
      },
    }),
    answer({
      path: '/v1/conversations/{correlationId}/deadlines',
      scope: 'deadlines:read',
      summary: 'List open deadlines of the entities in a conversation',
      input: { id: pathId('correlationId'), credential: credentialInput },
      refusals: ['not-kept'],
      async handle({ id, credential }): Promise<ConversationDeadlines> {
        const kept = await index.ask('conversationsOf', id)
        if (!kept.some(({ correlationId }) => correlationId === id)) throw notKept(`conversation ${id}`)
        const found = await Promise.all(owners.map((one) => openIn(id, one, credential)))
        return { items: found.flatMap(({ items }) => items), problems: found.flatMap(({ problems }) => problems) }
      },
    }),
    answer({
      method: 'post',
      path: '/v1/deadlines/fire',
      scope: 'deadlines:operate',
      status: 202,
      summary: 'Let an open deadline pass now',
      input: { chosen: { ...chosenInput, problems: [...chosenInput.problems, 404, 409] }, credential: credentialInput },
      async handle({ chosen, credential }, context): Promise<{ isFired: true }> {
        const { service, id, ...rest } = chosen
        const owner = owners.find(({ name }) => name === service)
        if (!owner) throw invalid([{ pointer: '/service', detail: 'is not a service with deadlines' }])
        const by = nameOf(context)
        const none = { position: null, reason: null, as: null, edited: null }
        ledger.record({ at: now().toISOString(), by, what: 'DeadlineFired', ...none, deadline: chosen })
        const asked = await ask(owner, `/${encodeURIComponent(id)}/fire`, credential, rest)
        if ('body' in asked) return { isFired: true }
        const { status, code, title, problem } = asked
        const detail = `${service} refuses: ${problem}`
        // A 401 would end the session at the monitor, which has accepted the same key or token.
        if ([400, 403, 404, 409].includes(status)) throw new HttpProblem(status, code, title, { detail })
        throw unavailable(`${service} has perhaps not received the request: ${problem}. Look at the deadline again.`)
      },
    }),
  ]
}

/** Returns a deadline of a service with its id, if it is a GUID. Other ids may be personal. */
const shownIn = (
  service: string,
  { entity, id, deadline, due, isFired }: Omit<OpenDeadline, 'service'>,
): OpenDeadline => ({
  ...{ service, entity, deadline, due, isFired },
  id: parseGuid(id) ? id : `*** (${id.length} characters)`,
})
