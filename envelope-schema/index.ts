/** The application's contract: its events and topics, and all functions of @orderflow/envelope. */
export * from '@orderflow/envelope'
export * from './topics.gen.ts'
export type * from './types.gen.ts'
