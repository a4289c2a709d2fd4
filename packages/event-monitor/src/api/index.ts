/** The monitor's API, for the page and for whoever else reads it: types and paths alone, so that a browser can import it. */
export type * from './conversation.ts'
export type * from './dead-letters.ts'
export type * from './events.ts'
export { validities } from './events.ts'
export type * from './live.ts'
export { paths } from './paths.ts'
export type * from './system.ts'
export type * from './truth.ts'
