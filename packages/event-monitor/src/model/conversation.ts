import { placeText } from '@orderflow/service-kit/log'
import type { Conversation, Lane, Step } from '../api/conversation.ts'
import type { EventRow, Place } from '../api/events.ts'
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

/** How things follow from each other. */
interface Causality<T> {
  cause: (one: T) => T | undefined
  /** What has an order of its own, such as a partition. */
  lane: (one: T) => string
  offset: (one: T) => number
  time: (one: T) => number
}

/**
 * Things in an order in which each comes after its cause, and after what is before it in its lane. What neither binds is ordered by time.
 * Whoever forges a cause can make a circle: it is cut where the oldest of it is.
 */
export function causalOrder<T>(things: readonly T[], { cause, lane, offset, time }: Causality<T>): T[] {
  const before = new Map<T, number>(things.map((one) => [one, 0]))
  const after = new Map<T, T[]>()
  const bind = (first: T | undefined, second: T) => {
    if (first === undefined || !before.has(first)) return
    before.set(second, (before.get(second) ?? 0) + 1)
    const followers = after.get(first)
    if (followers) followers.push(second)
    else after.set(first, [second])
  }
  for (const one of things) bind(cause(one), one)
  for (const own of Map.groupBy(things, lane).values()) {
    const sorted = own.toSorted((one, other) => offset(one) - offset(other))
    for (const [index, one] of sorted.entries()) bind(sorted[index - 1], one)
  }
  const byTime = (one: T, other: T) => time(one) - time(other)
  const ready = things.filter((one) => before.get(one) === 0).sort(byTime)
  const waiting = new Set(things)
  const ordered: T[] = []
  const take = (one: T) => {
    waiting.delete(one)
    ordered.push(one)
    for (const next of after.get(one) ?? []) {
      const left = (before.get(next) ?? 0) - 1
      before.set(next, left)
      if (left === 0 && waiting.has(next)) insert(ready, next, byTime)
    }
  }
  while (waiting.size > 0) {
    const next = ready.shift()
    if (next === undefined) take(oldestOf(waiting, time))
    else if (waiting.has(next)) take(next)
  }
  return ordered
}

function oldestOf<T>(things: Iterable<T>, time: (one: T) => number): T {
  let oldest: T | undefined
  for (const one of things) if (oldest === undefined || time(one) < time(oldest)) oldest = one
  return oldest as T
}

/** Into a sorted list. */
function insert<T>(sorted: T[], one: T, compare: (one: T, other: T) => number): void {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(sorted[middle] as T, one) <= 0) low = middle + 1
    else high = middle
  }
  sorted.splice(low, 0, one)
}

/**
 * Steps with those beside the log that follow from them: a request before an event of ours that reacts to nothing, and a handling after an
 * event that a service is done with. When they were is not known: they stand next to their event.
 * @param wasSetAside whether a service made a dead letter of a step's record
 */
function withAround(steps: readonly Step[], wasSetAside: (step: Step, service: string) => boolean): Step[] {
  const handled = new Set<string>()
  const all: Step[] = []
  const placeOf: number[] = []
  for (const [index, step] of steps.entries()) {
    const { from, to, row, depth } = step
    const isTaken = row.validity === 'valid' && step.kind !== 'dead-letter'
    const beside = { row, isEdited: false, duplicateOf: null, skew: null, missingCause: null, consumers: [] }
    if (isTaken && isBeginning(step))
      all.push({ ...beside, kind: 'request', from: 'client', to: from, cause: null, depth })
    placeOf[index] = all.length
    all.push(step)
    for (const { lane, handled: isHandled } of isTaken ? step.consumers : []) {
      const service = lane.slice('service:'.length)
      // What comes again changes nothing.
      const key = `${lane} ${to} ${row.id}`
      if (!isHandled || handled.has(key) || wasSetAside(step, service)) continue
      handled.add(key)
      all.push({ ...beside, kind: 'handled', from: lane, to: `state:${service}`, cause: index, depth: depth + 1 })
    }
  }
  const moved = (index: number | null) => (index === null ? null : (placeOf[index] ?? null))
  return all.map((step) => ({
    ...step,
    cause: moved(step.cause),
    duplicateOf: moved(step.duplicateOf),
    consumers: step.consumers.map((one) => ({
      ...one,
      reaction: one.reaction.map((index) => placeOf[index] ?? index),
    })),
  }))
}

const isBeginning = ({ kind, from, cause, missingCause, duplicateOf }: Step) =>
  kind === 'event' && from.startsWith('service:') && cause === null && missingCause === null && duplicateOf === null
