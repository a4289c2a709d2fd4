import {
  completeEnvelope,
  type Envelope,
  type EventType,
  type FullEvent,
  type IdSource,
  parseEnvelope,
  type ReceivedEnvelope,
  selectEvent,
  typeOf,
} from '@orderflow/envelope-schema'
import type { Evidence } from '../trust/trust.ts'
import { HandlerError } from './fault.ts'

/**
 * What a service does with the events of one topic: a function for each `Name@Version` that it handles, called for a whole
 * batch at once, in order. An answer of false says that nothing changed. A rejection is infrastructure, one of the service's refusals, or a bug.
 */
export type Handlers<R = unknown> = { readonly [T in EventType]?: (event: FullEvent<T>) => Promise<R> }

/** The same by topic. */
export type Reactions<R = unknown> = Readonly<Record<string, Handlers<R>>>

/** Asked about each event that is to be handed over. @throws {UntrustedError} */
export type Judge = (envelope: ReceivedEnvelope, evidence: Evidence) => void

/**
 * Parses the event in a record's value and hands it over. Answers its type and what the handler did; undefined for an event that none of
 * them is for, whose payload and publisher are nobody's business here.
 * @param source what missing ids derive from
 * @param onRead told the envelope, with its ids, before it is known whether the event is valid and handled
 * @throws {EnvelopeError} the event is not valid, or of a version that is not handled
 * @throws {UntrustedError} whoever wrote it may not say it
 * @throws {HandlerError} whatever the handler threw: an envelope that it could not make is a bug of ours, not a fault of the event
 */
export type Intake<R> = (
  record: Evidence,
  source: IdSource,
  onRead?: (envelope: Envelope) => void,
) => Promise<{ type: EventType; answer: R } | undefined>

/** @param onUnhandled told the `Name@Version` of each event that no handler is for */
export function createIntake<R>(
  handlers: Handlers<R>,
  judge: Judge,
  onUnhandled: (type: string) => void = () => {},
): Intake<R> {
  const types = Object.keys(handlers) as EventType[]
  const byType = new Map(Object.entries(handlers)) as Map<string, (event: FullEvent<EventType>) => Promise<R>>
  return async (record, source, onRead) => {
    const envelope = completeEnvelope(parseEnvelope(record.value), source)
    onRead?.(envelope)
    const event = selectEvent(envelope, types)
    const type = event && typeOf(event)
    const handle = type && byType.get(type)
    if (!handle) {
      onUnhandled(typeOf(envelope))
      return undefined
    }
    judge(event, record)
    try {
      return { type, answer: await handle(event as FullEvent<EventType>) }
    } catch (error) {
      throw new HandlerError(error)
    }
  }
}
