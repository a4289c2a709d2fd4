import type { Problem } from '../../src/api/index.ts'

/** The problem of a request without an answer. */
export const away: Problem = { type: 'about:blank', title: 'The monitor does not answer', status: 0 }

/** Returns the problem in a refused answer, or one with its status if the answer has none. */
export async function problemOf(response: Response): Promise<Problem> {
  const without = { type: 'about:blank', title: `The monitor answered ${response.status}`, status: response.status }
  return { ...without, ...((await response.json().catch(() => ({}))) as Partial<Problem>) }
}
