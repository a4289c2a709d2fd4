import { keyFields, keyOf } from '@orderflow/envelope/kafka'

export interface BadRequest {
  path: string
  init?: RequestInit
  status: number
  /** The expected pointers of `errors`, in order. */
  pointers?: string[]
  /** A pattern that matches the expected detail. */
  tells: RegExp
}

export interface SubjectEvent {
  topic: string
  key: string | undefined
  /** The complete envelope with its Id, so that a second delivery has the same event. */
  envelope: { Id: string; Payload: object }
}

/** Returns an event with the key that services.json declares for the topic. */
export function underKey(topic: string, envelope: SubjectEvent['envelope']): SubjectEvent {
  return { topic, key: keyOf(envelope, keyFields(envelope, topic)), envelope }
}

/** The data of one service for tests that run for every service (packages/test-kit). */
export interface Subject {
  /** Requests that only this service refuses, by a description of the error. All other bad requests derive from the service's routes. */
  badRequests?: Record<string, BadRequest>
  /** Returns a new event that the service handles, about a new object (such as an order). */
  event(): SubjectEvent
  /**
   * Returns the final effect of the event in the service's API; undefined while the effect is not there yet, or may still change. The effect has an
   * `id`, which a list of the service shows.
   */
  effectOf(url: string, event: SubjectEvent): Promise<unknown>
}
