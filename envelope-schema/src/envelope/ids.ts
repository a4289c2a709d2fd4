import { hash } from 'node:crypto'
import { parse } from 'uuid'
import type { Envelope, ReceivedEnvelope } from '../schemas/types.ts'

/** Namespace of every derived id (RFC 9562, section 6.6). Random once, fixed for ever: another one gives other ids. */
const namespace = parse('4563ec1f-497b-4618-baf9-8485edb38c08')

/**
 * A GUID (UUID v5, lower case) that is the same whenever `kind` and `parts` are the same. `kind` keeps the ids of
 * different things apart. The parts are joined as a JSON list: `('a', 'b')` and `('a,b')` give different ids.
 */
export function deterministicId(kind: string, ...parts: string[]): string {
  const digest = hash('sha1', Buffer.concat([namespace, Buffer.from(JSON.stringify([kind, ...parts]))]), 'hex')
  const variant = '89ab'[Number.parseInt(digest.charAt(16), 16) % 4]
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}

/** Where a record stands in the stream. `offset` is Kafka's 64-bit number; its text holds all digits. */
export interface Origin {
  topic: string
  partition: number | string
  offset: number | string
}

/**
 * The full variant of a received envelope. A missing Id derives from the origin, and so is the same for every receiver
 * and every redelivery. CorrelationId and TraceId stand in for one another, and derive from the origin when both are
 * missing. All that is there stays as it is.
 */
export function completeEnvelope<E extends ReceivedEnvelope>(envelope: E, origin: Origin): E & Envelope {
  const derived = (kind: string) => deterministicId(kind, origin.topic, `${origin.partition}`, `${origin.offset}`)
  const { Id, CorrelationId, TraceId } = envelope
  const trace = TraceId ?? CorrelationId ?? derived('trace')
  return { ...envelope, Id: Id ?? derived('event'), CorrelationId: CorrelationId ?? trace, TraceId: trace }
}
