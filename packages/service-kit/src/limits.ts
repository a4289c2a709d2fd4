import { url } from 'node:inspector'

const dayMs = 24 * 60 * 60 * 1_000

/** Returns true if a debugger can stop this process (`make dev INSPECT=1`). */
export const isStoppable = (): boolean => url() !== undefined

/**
 * Returns a limit of time in milliseconds: one day if a debugger can stop this process, otherwise `ms`. Timers that became due during a stop fire
 * before Node reads the answers that have arrived.
 */
export const timeLimit = (ms: number): number => (isStoppable() ? dayMs : ms)
