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

/** Returns an event of another publisher with only the fields of the contract, so that documents stay small. */
export function factOf(event: FullEvent): FullEvent {
  const { id: TenantID, userId: TenantUserID } = tenantOf(event)
  const cause = causeIn(event)
  return {
    ...(cause !== undefined && { Headers: { CausationId: cause } }),
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
  const textOf = (event: FullEvent) => JSON.stringify(factOf(event))
  return {
    has: (event: FullEvent) => texts.get(keyOf(event)) === textOf(event),
    add: (event: FullEvent) => void texts.set(keyOf(event), textOf(event)),
  }
}

/** Compares two events by date, then Id, then content. The time of arrival has no influence, so a rebuild keeps the same events. */
export function isEarlier(a: FullEvent, b: FullEvent): boolean {
  const [one, other] = [momentOf(a), momentOf(b)]
  if (one.second !== other.second) return one.second < other.second
  if (one.fraction !== other.fraction) return one.fraction < other.fraction
  return a.Id === b.Id ? JSON.stringify(a) < JSON.stringify(b) : a.Id < b.Id
}

/** Returns the CreationDate with the nine decimals that the contract allows, because a JavaScript Date has only three. */
function momentOf({ CreationDate }: FullEvent): { second: number; fraction: string } {
  const [, fraction = ''] = /\.(\d+)/.exec(CreationDate) ?? []
  return { second: Date.parse(CreationDate.replace(/\.\d+/, '')), fraction: fraction.padEnd(9, '0') }
}
