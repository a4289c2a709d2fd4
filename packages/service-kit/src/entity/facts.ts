import { type EventName, type FullEvent, payloadFields, tenantOf, upcast } from '@orderflow/envelope'
import { LRUCache } from 'lru-cache'

/** A state that consists of events: at most one for each name. */
export type Facts<N extends EventName> = { readonly [K in N]?: FullEvent<K> }

/** Throws a refusal if an event contradicts the known event of the same name. */
type Settle = (known: FullEvent, event: FullEvent) => void

/** The names of collected events, and the rule for events of the same name. */
export interface FactNames<N extends EventName> {
  names: readonly N[]
  settle: Settle
}

/**
 * Declares a state whose events come from several publishers, and may arrive repeatedly and in any sequence. The state is the events themselves, at most
 * one for each name. Of two events with the same name, it keeps the one with the earlier date, then with the smaller Id. So the state depends only on the
 * set of events. An own event occurs at most once in the life of the entity.
 * @param settle throws a refusal if an event contradicts the known event of its name
 */
export function facts<const N extends EventName>(
  names: readonly N[],
  settle: Settle = () => {},
): { initial: Facts<N>; facts: FactNames<N> } {
  return { initial: {}, facts: { names, settle } }
}

/** Returns the state after an event. @throws what `settle` throws */
export function collect<N extends EventName>({ names, settle }: FactNames<N>, state: Facts<N>, event: FullEvent) {
  const name = event.Name as EventName
  if (!(names as readonly EventName[]).includes(name)) return state
  const known = (state as Facts<EventName>)[name] as FullEvent | undefined
  if (known) settle(known, event)
  return known && !isEarlier(event, known) ? state : { ...state, [name]: event }
}

/** Returns stored facts with the newest Version of each event. */
export function upcastFacts<S>(state: S): S {
  const events = state as Record<string, FullEvent<EventName>>
  if (Object.values(events).every((event) => upcast(event) === event)) return state
  return Object.fromEntries(Object.entries(events).map(([name, event]) => [name, upcast(event)])) as S
}

/** Returns the cause that an event names; undefined if it names none. */
export function causeIn({ Headers }: Pick<FullEvent, 'Headers'>): string | undefined {
  const cause = Headers?.CausationId
  return typeof cause === 'string' ? cause : undefined
}

const envelopeFields = 'Id CorrelationId TraceId AppId AppName Version Name CreationDate'.split(' ')

/**
 * Returns an event of another publisher with only the fields of the contract, so that documents stay small.
 * @param arrivedAt the time at which the log got the event, in milliseconds since 1970, if deadlines may depend on it
 */
export function factOf(event: FullEvent, arrivedAt?: number): FullEvent {
  const { id: TenantID, userId: TenantUserID } = tenantOf(event)
  const cause = causeIn(event)
  const headers = {
    ...(cause !== undefined && { CausationId: cause }),
    ...(arrivedAt !== undefined && { AppendedAt: new Date(arrivedAt).toISOString() }),
  }
  return {
    ...(Object.keys(headers).length > 0 && { Headers: headers }),
    ...picked(event, envelopeFields),
    Payload: picked(event.Payload, payloadFields(event.Name as EventName)),
    ...(TenantID && { TenantID }),
    ...(TenantUserID && { TenantUserID }),
  } as unknown as FullEvent
}

/** Returns an object with only these fields, as far as they exist. */
function picked(value: object, fields: readonly string[]): object {
  const [given, found] = [value as Record<string, unknown>, {} as Record<string, unknown>]
  for (const field of fields) if (given[field] !== undefined) found[field] = given[field]
  return found
}

/** More facts than a process saves during the usual delay of the log. */
const maxSavedFacts = 2_000

/**
 * Creates the memory of the facts that this process saved last, which need no read when they arrive from the log.
 * @param generation returns a number that changes when the store may have lost writes
 */
export function createRecentFacts(generation: () => number) {
  const texts = new LRUCache<string, string>({ max: maxSavedFacts })
  const keyOf = ({ Id }: FullEvent) => `${generation()}/${Id}`
  // Reads only the fields that a fact keeps, because scenarios record the fields that a service reads.
  const textOf = (event: FullEvent, arrivedAt: number | undefined) => JSON.stringify(factOf(event, arrivedAt))
  return {
    has: (event: FullEvent, arrivedAt?: number) => texts.get(keyOf(event)) === textOf(event, arrivedAt),
    add: (event: FullEvent, arrivedAt?: number) => void texts.set(keyOf(event), textOf(event, arrivedAt)),
  }
}

/** Compares two events by date, then Id, then content. The time of arrival has no influence, so a rebuild keeps the same events. */
export function isEarlier(a: FullEvent, b: FullEvent): boolean {
  const [one, other] = [momentOf(a), momentOf(b)]
  if (one.second !== other.second) return one.second < other.second
  if (one.fraction !== other.fraction) return one.fraction < other.fraction
  return a.Id === b.Id ? textOf(a) < textOf(b) : a.Id < b.Id
}

/** Returns the content of an event for comparisons. Of two equal events, the one whose arrival in the log is known and earlier comes first. */
function textOf({ Headers, ...rest }: FullEvent): string {
  const { AppendedAt = '~', ...headers } = Object(Headers) as Record<string, unknown>
  const content = Object.keys(headers).length > 0 ? { Headers: headers, ...rest } : rest
  return `${JSON.stringify(content)} ${AppendedAt}`
}

/** The first and last year of deadlines that can be written in events, also if a year is added to them. */
const [earliest, latest] = [0, Date.UTC(9998)]

/**
 * Returns the time of an event by the log's clock, for deadlines. For an event of another publisher, this is the time at which the log got it. Its
 * CreationDate would follow the publisher's clock, and the event may have been delayed.
 */
export function timeOf({ Headers, CreationDate }: Pick<FullEvent, 'Headers' | 'CreationDate'>): Date {
  const { AppendedAt } = Object(Headers) as { AppendedAt?: string }
  return new Date(Math.min(Math.max(Date.parse(AppendedAt ?? CreationDate), earliest), latest))
}

/** Returns the CreationDate with the nine decimals that the contract allows, because a JavaScript Date has only three. */
function momentOf({ CreationDate }: FullEvent): { second: number; fraction: string } {
  const [, fraction = ''] = /\.(\d+)/.exec(CreationDate) ?? []
  return { second: Date.parse(CreationDate.replace(/\.\d+/, '')), fraction: fraction.padEnd(9, '0') }
}
