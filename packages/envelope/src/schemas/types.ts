import type { FullEnvelope, ReceivedEnvelope } from './types.gen.ts'

export type { ReceivedEnvelope } from './types.gen.ts'

/** Payloads by event type. The contract's generated types extend this interface by declaration merging. */
export interface EventPayloads extends Record<never, object> {}

/** `Name@Version` of the newest version, by name. The contract's generated types extend this interface, too. */
export interface NewestTypes extends Record<never, string> {}

export type Envelope = FullEnvelope

export type EventType = keyof EventPayloads

export type NameOf<T extends EventType> = T extends `${infer Name}@${number}` ? Name : never

export type VersionOf<T extends EventType> = T extends `${string}@${infer Version extends number}` ? Version : never

export type EventName = keyof NewestTypes

export type TypeOf<T extends EventType | EventName> = T extends EventName ? NewestTypes[T] : Extract<T, EventType>

export type PayloadOf<T extends EventType | EventName> = EventPayloads[TypeOf<T>]

/** A received envelope of one of the types `T`, with a validated Payload. A name means its newest version. */
export type EventOf<T extends EventType | EventName> = {
  [K in TypeOf<T>]: Omit<ReceivedEnvelope, 'Name' | 'Version' | 'Payload'> & {
    Name: NameOf<K>
    Version: VersionOf<K>
    Payload: EventPayloads[K]
  }
}[TypeOf<T>]

/** Any known event. Narrow it by `Name`, and if necessary by `Version`. */
export type KnownEvent = EventOf<EventType>

/** An event with all ids. */
export type FullEvent<T extends EventType | EventName = EventType> = EventOf<T> & Envelope
