import type { RecordPosition } from './events.ts'

/** Types and paths of the monitor's API. The page imports this file, too. */
export type * from './actions.ts'
export type * from './conversation.ts'
export type * from './dead-letters.ts'
export type * from './deadlines.ts'
export type * from './events.ts'
export { validities } from './events.ts'
export type * from './live.ts'
export type * from './system.ts'

/** Paths of the API. The method is GET, or the method in the comment. */
export const paths = {
  me: '/v1/me',
  completeness: '/v1/completeness',
  events: '/v1/events',
  facets: '/v1/facets',
  rates: '/v1/rates',
  live: '/v1/live',
  event: (position: RecordPosition) => `/v1/events/${positionPath(position)}`,
  /** POST */
  reveal: (position: RecordPosition) => `/v1/events/${positionPath(position)}/reveal`,
  fixture: (position: RecordPosition) => `/v1/events/${positionPath(position)}/fixture`,
  id: (id: string) => `/v1/ids/${id}`,
  /** POST */
  dryRun: '/v1/dry-run',
  conversations: '/v1/conversations',
  conversation: (correlationId: string) => `/v1/conversations/${correlationId}`,
  conversationDeadlines: (correlationId: string) => `/v1/conversations/${correlationId}/deadlines`,
  deadlines: '/v1/deadlines',
  /** POST */
  deadlineFire: '/v1/deadlines/fire',
  deadLetters: '/v1/dead-letters',
  deadLetterEntries: '/v1/dead-letters/entries',
  deadLetterEntry: (id: string) => `/v1/dead-letters/entries/${id}`,
  /** POST */
  deadLetterCheck: (id: string) => `/v1/dead-letters/entries/${id}/check`,
  /** GET and POST */
  replays: '/v1/replays',
  replay: (id: string) => `/v1/replays/${id}`,
  /** POST */
  replayStop: (id: string) => `/v1/replays/${id}/stop`,
  audit: '/v1/audit',
  missing: '/v1/missing',
  publishers: '/v1/publishers',
  schemas: '/v1/schemas',
  /** POST */
  validate: '/v1/validate',
  health: '/v1/health',
} as const

const positionPath = ({ topic, partition, offset }: RecordPosition) =>
  `${encodeURIComponent(topic)}/${partition}/${offset}`
