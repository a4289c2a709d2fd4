/** The application's contract: its events and topics, and all that @orderflow/envelope does with them. */
export * from '@orderflow/envelope'
export * from './topics.gen.ts'
export type * from './types.gen.ts'
