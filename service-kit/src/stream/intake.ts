import {
  checkPayload,
  completeEnvelope,
  type Envelope,
  EnvelopeError,
  type EventName,
  type EventOf,
  parseEnvelope,
} from '@orderflow/envelope-schema'
import type { Place } from './place.ts'

/** A valid event, with every id it needs: those a reduced envelope lacks are derived from its place in the log. */
export type Received<N extends EventName> = { [K in N]: EventOf<K> & Envelope }[N]

/** What a service does with the events of one topic. */
export interface Handler<N extends EventName, R = unknown> {
  /** Names this service reacts to; all others pass unnoticed. */
  handles: readonly N[]
  /** Called for a whole batch at once, in order. A rejection is infrastructure, `PermanentFault`, or a bug. */
  handle(event: Received<N>): Promise<R>
}

/**
 * Parses the event in a record's value and hands it over. Answers what the handler did, or undefined for a name that
 * it does not handle, whose payload is nobody's business here.
 * @param origin where the event first stood in the log
 * @throws {EnvelopeError} the event is not valid
 */
export async function take<N extends EventName, R>(
  handler: Handler<N, R>,
  value: Uint8Array,
  origin: Place,
): Promise<R | undefined> {
  const envelope = parseEnvelope(value)
  if (!handler.handles.includes(envelope.Name as N)) return undefined
  const event = completeEnvelope(checkPayload(envelope), origin) as Received<N>
  return await handler.handle(event).catch(rethrow)
}

/** An envelope that the handler could not make is a bug of ours, not a fault of the event that it reacts to. */
function rethrow(error: unknown): never {
  throw error instanceof EnvelopeError ? new Error('the reaction is not a valid event', { cause: error }) : error
}
