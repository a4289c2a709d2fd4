import { keyFields, keyOf } from '@orderflow/envelope/kafka'

/** A request that a service refuses, and how it tells. */
export interface BadRequest {
  path: string
  init?: RequestInit
  status: number
  /** What the answer names: pointers of `errors`, in order. */
  pointers?: string[]
  /** What its detail says. */
  tells: RegExp
}

/** An event as a publisher outside the platform sends it. */
export interface SubjectEvent {
  topic: string
  /** Undefined for an event that has no key. */
  key: string | undefined
  /** Full, so that it is the same event when it comes again. */
  envelope: { Id: string; Payload: object }
}

/** Returns an event under the key that services.json declares for the topic. */
export function underKey(topic: string, envelope: SubjectEvent['envelope']): SubjectEvent {
  return { topic, key: keyOf(envelope, keyFields(envelope, topic)), envelope }
}

/** What only a service itself can say to the specs that hold for each of them (packages/test-kit). */
export interface Subject {
  /** Requests that it alone refuses, by what is wrong with them. What any service refuses follows from its routes. */
  badRequests?: Record<string, BadRequest>
  /** An event that it reacts to, of something that nobody has heard of yet. */
  event(): SubjectEvent
  /** What its API shows of the event once nothing about it changes any more; undefined until then. */
  effectOf(url: string, event: SubjectEvent): Promise<unknown>
}
