import { positionText } from '@orderflow/kafka-log'
import type { Conversation, ConversationColumn, Step } from '../api/conversation.ts'
import type { EventRow, RecordPosition } from '../api/events.ts'
import { type Indexed, rowOf } from './row.ts'

export interface ServiceRole {
  name: string
  consumes: readonly string[]
  /** Maps `topic/partition` to the next offset of the service's consumer group. */
  positions: ReadonlyMap<string, string>
}

interface LinkedEvent extends Indexed {
  row: EventRow
  cause: LinkedEvent | undefined
}

/** @param isWhole true if all events and dead letters are indexed */
export function conversationOf(
  correlationId: string,
  records: readonly Indexed[],
  services: readonly ServiceRole[],
  isWhole: boolean,
): Omit<Conversation, 'complete' | 'total'> {
  const events = withCauses(records)
  const ordered = causalOrder(events, {
    cause: ({ cause }) => cause,
    partition: ({ position }) => `${position.topic}/${position.partition}`,
    offset: ({ position }) => Number(position.offset),
    time: ({ at }) => at,
  })
  const indexOf = new Map(ordered.map((one, index) => [one, index]))
  const firstOf = new Map<string, number>()
  const steps: Step[] = []
  const rejections = rejectionsIn(events)
  for (const [index, one] of ordered.entries()) {
    const cause = one.cause && indexOf.get(one.cause)
    const kind = stepKind(one)
    const first = kind === 'event' ? firstOf.get(one.row.id) : undefined
    if (kind === 'event' && first === undefined) firstOf.set(one.row.id, index)
    const hasCause = cause !== undefined && cause < index
    steps.push({
      kind,
      ...wayOf(one, kind, services),
      row: one.row,
      cause: hasCause ? cause : null,
      depth: hasCause ? (steps[cause]?.depth ?? 0) + 1 : 0,
      isEdited: one.body.edited ?? false,
      duplicateOf: first ?? null,
      skew: one.cause && hasCause ? skewOf(one, one.cause) : null,
      missingCause: !one.cause && one.row.causationId ? one.row.causationId : null,
      consumers:
        kind === 'dead-letter' ? [] : consumersOf(one.position, services, rejections.get(positionText(one.position))),
    })
  }
  for (const [index, step] of steps.entries()) addReaction(steps, step, index)
  const wasRejected = ({ row }: Step, service: string) => {
    const apps = rejections.get(positionText(row.position))
    return !isWhole || (apps !== undefined && (apps.has(service) || apps.has(unknownApp)))
  }
  const all = withAround(steps, wasRejected, (index) => deadlineIn(ordered[index] as LinkedEvent))
  return { correlationId, columns: columnsOf(all, services), steps: all }
}

const unknownApp = ''

export const deadlinePassed = 'DeadlinePassed'

/** Returns the deadline whose event this is. */
function deadlineIn({ kind, body }: LinkedEvent): { deadline: string; isEarly: boolean } | undefined {
  if (kind.name !== deadlinePassed) return undefined
  const { CreationDate, Payload } = Object(body.document) as Record<string, unknown>
  const { Deadline, Due } = Object(Payload) as Record<string, unknown>
  return { deadline: String(Deadline), isEarly: Date.parse(String(CreationDate)) < Date.parse(String(Due)) }
}

/** Maps the position of a rejected record to the apps that rejected it. */
function rejectionsIn(events: readonly LinkedEvent[]): Map<string, Set<string>> {
  const apps = new Map<string, Set<string>>()
  for (const { body } of events) {
    if (!body.of) continue
    const app = body.headers?.find(({ name }) => name === 'deadletter-app')?.value ?? unknownApp
    const position = positionText(body.of)
    apps.set(position, (apps.get(position) ?? new Set()).add(/^[\w.-]+$/.test(app) ? app : unknownApp))
  }
  return apps
}

/** Links events to their causes. Notes are used only to mark replayed records as edited. */
function withCauses(records: readonly Indexed[]): LinkedEvent[] {
  const notes = new Map(
    records.flatMap(({ kind, body }) =>
      kind.validity === 'replay-note' && body.as ? [[positionText(body.as), body]] : [],
    ),
  )
  const events = records
    .filter(({ kind }) => kind.validity !== 'replay-note')
    .map((one): LinkedEvent => {
      const edited = notes.get(positionText(one.position))?.edited
      const body = edited === undefined ? one.body : { ...one.body, edited }
      return { ...one, body, row: rowOf(one), cause: undefined }
    })
  const byId = new Map<string, LinkedEvent>()
  const byPosition = new Map<string, LinkedEvent>()
  const deadLetters = new Map<string, LinkedEvent>()
  for (const one of events) {
    // If a rejected event was replayed, later events are effects of the replay.
    const earlier = byId.get(one.row.id)
    if (stepKind(one) !== 'dead-letter' && (!earlier || isRejected(earlier))) byId.set(one.row.id, one)
    byPosition.set(positionText(one.position), one)
    if (one.body.of) deadLetters.set(positionText(one.body.of), one)
  }
  for (const one of events) {
    const { of, origin } = one.body
    if (of) one.cause = byPosition.get(positionText(of))
    else if (origin) one.cause = deadLetters.get(positionText(origin)) ?? byPosition.get(positionText(origin))
    else if (one.row.causationId) one.cause = byId.get(one.row.causationId)
    if (one.cause === one) one.cause = undefined
  }
  return events
}

const isRejected = ({ kind: { validity } }: LinkedEvent) => validity !== 'valid' && validity !== 'foreign'

function stepKind({ kind, body }: Pick<Indexed, 'kind' | 'body'>): Step['kind'] {
  if (kind.topic.endsWith('.dead')) return 'dead-letter'
  return body.origin ? 'replay' : 'event'
}

const topicColumn = (topic: string) => `topic:${topic}`
const deadLetterColumn = (topic: string) => `dead:${topic.replace(/\.dead$/, '')}`

function wayOf(
  { kind: { appName, appId }, position: { topic } }: Indexed,
  kind: Step['kind'],
  services: readonly ServiceRole[],
): Pick<Step, 'from' | 'to'> {
  if (kind === 'dead-letter') return { from: topicColumn(topic.replace(/\.dead$/, '')), to: deadLetterColumn(topic) }
  if (kind === 'replay') return { from: deadLetterColumn(topic), to: topicColumn(topic) }
  const isOurs = services.some(({ name }) => name === appName)
  return { from: isOurs ? `service:${appName}` : `app:${appName ?? appId ?? 'unknown'}`, to: topicColumn(topic) }
}

function skewOf(effect: LinkedEvent, cause: LinkedEvent): Step['skew'] {
  const [later, earlier] = [effect.row.createdAt, cause.row.createdAt].map((text) =>
    text ? Date.parse(text) : Number.NaN,
  )
  const arrival = cause.at - effect.at
  if (arrival > 0) return { ms: arrival, by: 'broker' }
  const skew = (earlier ?? Number.NaN) - (later ?? Number.NaN)
  return skew > 0 ? { ms: skew, by: 'publisher' } : null
}

function consumersOf(
  { topic, partition, offset }: RecordPosition,
  services: readonly ServiceRole[],
  rejectedBy: ReadonlySet<string> | undefined,
): Step['consumers'] {
  return services
    .filter(({ consumes }) => consumes.includes(topic))
    .map(({ name, positions }) => {
      const position = positions.get(`${topic}/${partition}`)
      const handled = position === undefined ? null : BigInt(position) > BigInt(offset)
      return { column: `service:${name}`, handled, ...(rejectedBy?.has(name) && { isRejected: true }), reaction: [] }
    })
}

function addReaction(steps: readonly Step[], { cause, from, kind }: Step, index: number): void {
  if (cause === null || kind !== 'event') return
  const consumer = steps[cause]?.consumers.find(({ column }) => column === from)
  consumer?.reaction.push(index)
}

function columnsOf(steps: readonly Step[], services: readonly ServiceRole[]): ConversationColumn[] {
  const used = new Set(steps.flatMap(({ from, to, consumers }) => [from, to, ...consumers.map(({ column }) => column)]))
  const titled = (id: string, kind: ConversationColumn['kind']): ConversationColumn => ({
    id,
    kind,
    title: id.slice(id.indexOf(':') + 1),
  })
  const of = (prefix: string, kind: ConversationColumn['kind']) =>
    [...used].filter((id) => id.startsWith(`${prefix}:`)).map((id) => titled(id, kind))
  const order = new Map(services.map(({ name }, index) => [`service:${name}`, index]))
  const own = of('service', 'service').sort((one, other) => (order.get(one.id) ?? 99) - (order.get(other.id) ?? 99))
  const withState = (column: ConversationColumn) => {
    const state = `state:${column.title}`
    return used.has(state) ? [column, titled(state, 'state')] : [column]
  }
  return [
    ...(['client', 'time'] as const).flatMap((id) => (used.has(id) ? [titled(id, id)] : [])),
    ...of('app', 'foreign'),
    ...own.slice(0, 1).flatMap(withState),
    ...of('topic', 'topic'),
    ...own.slice(1).flatMap(withState),
    ...of('dead', 'dead'),
  ]
}

interface Causality<T> {
  cause: (one: T) => T | undefined
  /** The things of a partition keep their order. */
  partition: (one: T) => string
  offset: (one: T) => number
  time: (one: T) => number
}

/**
 * Sorts things by time. Each thing follows its cause, and the earlier things of its partition. If forged causes form a
 * circle, the oldest thing comes first.
 */
export function causalOrder<T>(things: readonly T[], { cause, partition, offset, time }: Causality<T>): T[] {
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
  for (const own of Map.groupBy(things, partition).values()) {
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
      // Begins at the end, because most effects are newer than all other ready things.
      if (left === 0 && waiting.has(next))
        ready.splice(ready.findLastIndex((other) => byTime(other, next) <= 0) + 1, 0, next)
    }
  }
  while (waiting.size > 0) {
    const next = ready.shift()
    if (next === undefined) take([...waiting].reduce((oldest, one) => (byTime(one, oldest) < 0 ? one : oldest)))
    else if (waiting.has(next)) take(next)
  }
  return ordered
}

/**
 * Adds the steps of requests, of passed deadlines and of handled events, which are not in the log. A request or deadline
 * comes before each event that our own services published without a cause.
 * @param wasRejected returns true if a service rejected a step's record
 */
function withAround(
  steps: readonly Step[],
  wasRejected: (step: Step, service: string) => boolean,
  deadlineOf: (index: number) => ReturnType<typeof deadlineIn>,
): Step[] {
  const handled = new Set<string>()
  const all: Step[] = []
  const newIndexOf: number[] = []
  for (const [index, step] of steps.entries()) {
    const { from, to, row, depth } = step
    const isAccepted = row.validity === 'valid' && step.kind !== 'dead-letter'
    const outside = { row, isEdited: false, duplicateOf: null, skew: null, missingCause: null, consumers: [] }
    if (isAccepted && isBeginning(step)) {
      const { deadline, isEarly = true } = deadlineOf(index) ?? {}
      const begins = isEarly
        ? ({ kind: 'request', from: 'client' } as const)
        : ({ kind: 'time', from: 'time' } as const)
      all.push({ ...outside, ...begins, ...(deadline !== undefined && { deadline }), to: from, cause: null, depth })
    }
    newIndexOf[index] = all.length
    all.push(step)
    for (const { column, handled: isHandled } of isAccepted ? step.consumers : []) {
      const service = column.slice('service:'.length)
      const key = `${column} ${to} ${row.id}`
      if (!isHandled || handled.has(key) || wasRejected(step, service)) continue
      handled.add(key)
      all.push({ ...outside, kind: 'handled', from: column, to: `state:${service}`, cause: index, depth: depth + 1 })
    }
  }
  const moved = (index: number | null) => (index === null ? null : (newIndexOf[index] ?? null))
  return all.map((step) => ({
    ...step,
    cause: moved(step.cause),
    duplicateOf: moved(step.duplicateOf),
    consumers: step.consumers.map((one) => ({
      ...one,
      reaction: one.reaction.map((index) => newIndexOf[index] ?? index),
    })),
  }))
}

const isBeginning = ({ kind, from, cause, missingCause, duplicateOf }: Step) =>
  kind === 'event' && from.startsWith('service:') && cause === null && missingCause === null && duplicateOf === null
