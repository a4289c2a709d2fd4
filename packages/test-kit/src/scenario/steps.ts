import {
  createEnvelope,
  type EventName,
  type EventType,
  examplePayload,
  type FullEvent,
  type PayloadOf,
} from '@orderflow/envelope'
import { publisherOf } from '@orderflow/service-kit/testing'
import type { Exchange } from './exchange.ts'
import { beginning } from './memory-processes.ts'
import type { ScenarioRecord } from './memory-service.ts'

/** An event as an envelope. The topic follows from the reactions of the service, and the key from services.json. */
export interface ScenarioEvent {
  Name: string
  Payload: object
}

/** A step of a scenario: an event, a record of the log, a request, or the passage of time. */
export type Step = ScenarioEvent | ScenarioRecord | { request: Exchange } | { later: Duration }

const unitMs = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }
type Unit = keyof typeof unitMs
/** A time span, such as `30 minutes`. */
export type Duration = `${number} ${Unit | `${Unit}s`}`

/** Returns a time span in milliseconds. */
export function msOf(duration: Duration): number {
  const [count, unit] = duration.split(' ') as [string, string]
  return Number(count) * unitMs[unit.replace(/s$/, '') as Unit]
}

type EventFields = Partial<Pick<Parameters<typeof createEnvelope>[0], 'app' | 'id' | 'creationDate' | 'tenant'>>

/**
 * Returns an event with the example values of its schema.
 * @param type the Name of the event, which means its newest version, or `Name@Version`
 * @param payload the fields that differ from the examples
 * @param fields `app` is the publisher. The default is an application that may publish the event
 * @throws {EnvelopeError} if the schema refuses the payload
 */
export function event<T extends EventName | EventType>(
  type: T,
  payload: Partial<PayloadOf<T>> = {},
  fields: EventFields = {},
): FullEvent<T> {
  const [name = ''] = type.split('@')
  return createEnvelope({
    app: publisherOf(name),
    creationDate: new Date(beginning),
    ...fields,
    type,
    payload: { ...examplePayload(type as EventName), ...payload } as PayloadOf<T>,
  })
}

/** A request to the service: `request('POST', '/v1/things', { name: 'a' }, { 'idempotency-key': '1' })`. The body is sent as JSON. */
export function request(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): { request: Exchange } {
  return { request: { method, path, headers, ...(body && { body }) } }
}

/**
 * Lets time pass for the service, its sidecar and the log, whose clocks otherwise stand still: `later('30 minutes')`. Then due deadlines and schedules
 * pass, at any time before the next request or passage of time. The time jumps, as after an outage: several steps let it pass step by step.
 */
export const later = (duration: Duration): { later: Duration } => ({ later: duration })
