import { timingSafeEqual } from 'node:crypto'

/** Whether somebody has a token; how long the answer takes says nothing of it. */
export function sameToken(expected: string, given: string | undefined): boolean {
  const [known, told] = [Buffer.from(expected), Buffer.from(given ?? '')]
  return told.length === known.length && timingSafeEqual(told, known)
}
