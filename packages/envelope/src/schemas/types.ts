import type { FullEnvelope, ReceivedEnvelope } from './types.gen.ts'

export type { ReceivedEnvelope } from './types.gen.ts'

/** The payload of each event that has a schema, by event type. The contract's generated types extend it by declaration merging. */
export interface EventPayloads extends Record<never, object> {}

/** The newest version of each event: `Name@Version` by name. The contract's generated types extend it, too. */
export interface NewestTypes extends Record<never, string> {}

/** The full variant. Publishers send it, and `completeEnvelope` returns it. */
export type Envelope = FullEnvelope

/** `Name@Version` of each event that has a schema. */
export type EventType = keyof EventPayloads

export type NameOf<T extends EventType> = T extends `${infer Name}@${number}` ? Name : never

export type VersionOf<T extends EventType> = T extends `${string}@${infer Version extends number}` ? Version : never

export type EventName = keyof NewestTypes

/** The event types of types and names. A name means its newest version. */
export type TypeOf<T extends EventType | EventName> = T extends EventName ? NewestTypes[T] : Extract<T, EventType>

/** The Payload of an event type, or of the newest version of a name. */
export type PayloadOf<T extends EventType | EventName> = EventPayloads[TypeOf<T>]

/** A received envelope of one of the types `T`, with a Payload validated by its schema. A name means its newest version. */
export type EventOf<T extends EventType | EventName> = {
  [K in TypeOf<T>]: Omit<ReceivedEnvelope, 'Name' | 'Version' | 'Payload'> & {
    Name: NameOf<K>
    Version: VersionOf<K>
    Payload: EventPayloads[K]
  }
}[TypeOf<T>]

/** Any known event. Narrow it by `Name`, and by `Version` for a name with several versions. */
export type KnownEvent = EventOf<EventType>

/** An event with all ids, as publishers send it and as `completeEnvelope` returns it. */
export type FullEvent<T extends EventType | EventName = EventType> = EventOf<T> & Envelope
