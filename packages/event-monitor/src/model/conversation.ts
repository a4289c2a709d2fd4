import { placeText } from '@orderflow/service-kit/log'
import type { Conversation, Lane, Step } from '../api/conversation.ts'
import type { EventRow, Place } from '../api/events.ts'
import { withAround } from './around-the-log.ts'
import { causalOrder } from './causal-order.ts'
import { type Indexed, rowOf } from './row.ts'

/** What is known of a service by services.json, and by Kafka of its group. */
export interface ServiceRole {
  name: string
  /** Of which it keeps what it needs: who consumes has a store. */
  consumes: readonly string[]
  /** The offset that its group goes on at, by `topic/partition`; those that are not known are not in it. */
  positions: ReadonlyMap<string, string>
}

/** An event with what it follows from. */
interface Told extends Indexed {
  row: EventRow
  cause: Told | undefined
}

/**
 * All events of a conversation in the order of cause and effect, what is known of what happened around them, and the lanes that it all goes
 * between.
 * @param isWhole whether nothing of it is left out, such as a dead letter
 */
export function conversationOf(
  correlationId: string,
  found: readonly Indexed[],
  services: readonly ServiceRole[],
  isWhole: boolean,
): Omit<Conversation, 'complete' | 'total'> {
  const told = withCauses(found)
  const ordered = causalOrder(told, {
    cause: ({ cause }) => cause,
    lane: ({ place }) => `${place.topic}/${place.partition}`,
    offset: ({ place }) => Number(place.offset),
    time: ({ at }) => at,
  })
  const indexOf = new Map(ordered.map((one, index) => [one, index]))
  const firstOf = new Map<string, number>()
  const steps: Step[] = []
  const letters = setAsideIn(told)
  for (const [index, one] of ordered.entries()) {
    const cause = one.cause && indexOf.get(one.cause)
    const kind = stepKind(one)
    const first = kind === 'event' ? firstOf.get(one.row.id) : undefined
    if (kind === 'event' && first === undefined) firstOf.set(one.row.id, index)
    const isKnown = cause !== undefined && cause < index
    steps.push({
      kind,
      ...wayOf(one, kind, services),
      row: one.row,
      cause: isKnown ? cause : null,
      depth: isKnown ? (steps[cause]?.depth ?? 0) + 1 : 0,
      isEdited: one.body.edited ?? false,
      duplicateOf: first ?? null,
      skew: one.cause && isKnown ? skewOf(one, one.cause) : null,
      missingCause: !one.cause && one.row.causationId ? one.row.causationId : null,
      consumers: kind === 'dead-letter' ? [] : consumersOf(one.place, services, letters.get(placeText(one.place))),
    })
  }
  for (const [index, step] of steps.entries()) addReaction(steps, step, index)
  const wasSetAside = ({ row }: Step, service: string) => {
    const apps = letters.get(placeText(row.place))
    return !isWhole || (apps !== undefined && (apps.has(service) || apps.has(unknownApp)))
  }
  const all = withAround(steps, wasSetAside)
  return { correlationId, lanes: lanesOf(all, services), steps: all }
}

/** Of a dead letter that does not say whose it is. */
const unknownApp = ''

/** Who made dead letters of which record, by its place. */
function setAsideIn(told: readonly Told[]): Map<string, Set<string>> {
  const apps = new Map<string, Set<string>>()
  for (const { body } of told) {
    if (!body.of) continue
    const app = body.headers?.find(({ name }) => name === 'deadletter-app')?.value ?? unknownApp
    const place = placeText(body.of)
    apps.set(place, (apps.get(place) ?? new Set()).add(/^[\w.-]+$/.test(app) ? app : unknownApp))
  }
  return apps
}

/** Notes of resends are told by the records that were resent: what they add is whether somebody edited them. */
function withCauses(found: readonly Indexed[]): Told[] {
  const notes = new Map(
    found.flatMap(({ kind, body }) => (kind.validity === 'resend-note' && body.as ? [[placeText(body.as), body]] : [])),
  )
  const told = found
    .filter(({ kind }) => kind.validity !== 'resend-note')
    .map((one): Told => {
      const edited = notes.get(placeText(one.place))?.edited
      const body = edited === undefined ? one.body : { ...one.body, edited }
      return { ...one, body, row: rowOf(one), cause: undefined }
    })
  const byId = new Map<string, Told>()
  const byPlace = new Map<string, Told>()
  const letters = new Map<string, Told>()
  for (const one of told) {
    // What was mended and resent is what others reacted to.
    const known = byId.get(one.row.id)
    if (stepKind(one) !== 'dead-letter' && (!known || isSetAside(known))) byId.set(one.row.id, one)
    byPlace.set(placeText(one.place), one)
    if (one.body.of) letters.set(placeText(one.body.of), one)
  }
  for (const one of told) {
    const { of, origin } = one.body
    if (of) one.cause = byPlace.get(placeText(of))
    else if (origin) one.cause = letters.get(placeText(origin)) ?? byPlace.get(placeText(origin))
    else if (one.row.causationId) one.cause = byId.get(one.row.causationId)
    if (one.cause === one) one.cause = undefined
  }
  return told
}

/** Whether no receiver takes it. */
const isSetAside = ({ kind: { validity } }: Told) => validity !== 'valid' && validity !== 'foreign'

function stepKind({ kind, body }: Pick<Indexed, 'kind' | 'body'>): Step['kind'] {
  if (kind.topic.endsWith('.dead')) return 'dead-letter'
  return body.origin ? 'resend' : 'event'
}

const topicLane = (topic: string) => `topic:${topic}`
const deadLane = (topic: string) => `dead:${topic.replace(/\.dead$/, '')}`

function wayOf(
  { kind: { appName, appId }, place: { topic } }: Indexed,
  kind: Step['kind'],
  services: readonly ServiceRole[],
): Pick<Step, 'from' | 'to'> {
  if (kind === 'dead-letter') return { from: topicLane(topic.replace(/\.dead$/, '')), to: deadLane(topic) }
  if (kind === 'resend') return { from: deadLane(topic), to: topicLane(topic) }
  const isOurs = services.some(({ name }) => name === appName)
  return { from: isOurs ? `service:${appName}` : `app:${appName ?? appId ?? 'unknown'}`, to: topicLane(topic) }
}

function skewOf(effect: Told, cause: Told): Step['skew'] {
  const [later, earlier] = [effect.row.createdAt, cause.row.createdAt].map((text) =>
    text ? Date.parse(text) : Number.NaN,
  )
  const arrival = cause.at - effect.at
  if (arrival > 0) return { ms: arrival, by: 'broker' }
  const said = (earlier ?? Number.NaN) - (later ?? Number.NaN)
  return said > 0 ? { ms: said, by: 'publisher' } : null
}

function consumersOf(
  { topic, partition, offset }: Place,
  services: readonly ServiceRole[],
  setAsideBy: ReadonlySet<string> | undefined,
): Step['consumers'] {
  return services
    .filter(({ consumes }) => consumes.includes(topic))
    .map(({ name, positions }) => {
      const position = positions.get(`${topic}/${partition}`)
      const handled = position === undefined ? null : BigInt(position) > BigInt(offset)
      return { lane: `service:${name}`, handled, ...(setAsideBy?.has(name) && { isSetAside: true }), reaction: [] }
    })
}

/** A reaction belongs to the consumer that published it. */
function addReaction(steps: readonly Step[], { cause, from, kind }: Step, index: number): void {
  if (cause === null || kind !== 'event') return
  const consumer = steps[cause]?.consumers.find(({ lane }) => lane === from)
  consumer?.reaction.push(index)
}

/** From left to right: whoever begins, topics with those who read them and what they keep, and what could not be handled. */
function lanesOf(steps: readonly Step[], services: readonly ServiceRole[]): Lane[] {
  const used = new Set(steps.flatMap(({ from, to, consumers }) => [from, to, ...consumers.map(({ lane }) => lane)]))
  const titled = (id: string, kind: Lane['kind']): Lane => ({ id, kind, title: id.slice(id.indexOf(':') + 1) })
  const of = (prefix: string, kind: Lane['kind']) =>
    [...used].filter((id) => id.startsWith(`${prefix}:`)).map((id) => titled(id, kind))
  const places = new Map(services.map(({ name }, index) => [`service:${name}`, index]))
  const own = of('service', 'service').sort((one, other) => (places.get(one.id) ?? 99) - (places.get(other.id) ?? 99))
  const withState = (lane: Lane) => {
    const state = `state:${lane.title}`
    return used.has(state) ? [lane, titled(state, 'state')] : [lane]
  }
  return [
    ...(used.has('client') ? [titled('client', 'client')] : []),
    ...of('app', 'foreign'),
    ...own.slice(0, 1).flatMap(withState),
    ...of('topic', 'topic'),
    ...own.slice(1).flatMap(withState),
    ...of('dead', 'dead'),
  ]
}
