import type { Place } from './events.ts'

/** The monitor's API, for the page and for whoever else reads it: types and paths alone, so that a browser can import it. */
export type * from './conversation.ts'
export type * from './dead-letters.ts'
export type * from './events.ts'
export { validities } from './events.ts'
export type * from './live.ts'
export type * from './system.ts'

/** Paths of the API, fixed. GET unless it says otherwise. */
export const paths = {
  me: '/v1/me',
  truth: '/v1/truth',
  events: '/v1/events',
  facets: '/v1/facets',
  rates: '/v1/rates',
  live: '/v1/live',
  event: (place: Place) => `/v1/events/${placePath(place)}`,
  /** POST */
  reveal: (place: Place) => `/v1/events/${placePath(place)}/reveal`,
  fixture: (place: Place) => `/v1/events/${placePath(place)}/fixture`,
  id: (id: string) => `/v1/ids/${id}`,
  /** POST */
  dryRun: '/v1/dry-run',
  conversations: '/v1/conversations',
  conversation: (correlationId: string) => `/v1/conversations/${correlationId}`,
  deadLetters: '/v1/dead-letters',
  deadLetterEntries: '/v1/dead-letters/entries',
  deadLetterEntry: (id: string) => `/v1/dead-letters/entries/${id}`,
  /** POST */
  deadLetterCheck: (id: string) => `/v1/dead-letters/entries/${id}/check`,
  /** GET and POST */
  resends: '/v1/resends',
  resend: (id: string) => `/v1/resends/${id}`,
  /** POST */
  resendStop: (id: string) => `/v1/resends/${id}/stop`,
  audit: '/v1/audit',
  missing: '/v1/missing',
  publishers: '/v1/publishers',
  schemas: '/v1/schemas',
  /** POST */
  validate: '/v1/validate',
  health: '/v1/health',
} as const

const placePath = ({ topic, partition, offset }: Place) => `${encodeURIComponent(topic)}/${partition}/${offset}`
