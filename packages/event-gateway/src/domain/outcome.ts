import type { Item } from './items.ts'
import type { Judgement } from './judge.ts'

/** What is told of an envelope to whoever sent it. Holds none of its values but its Id, if it is a GUID. */
export interface Outcome {
  index: number
  line?: number
  /**
   * - `accepted`: it is in the log;
   * - `refused`: it is not, and never will be as it is;
   * - `unsent`: it is not, and may be sent again;
   * - `unknown`: nobody knows whether it is.
   */
  outcome: 'accepted' | 'refused' | 'unsent' | 'unknown'
  /** The Id that it is known by downstream; null when its place in the log will make one. */
  id: string | null
  variant: Judgement['variant']
  /** Of what is refused. */
  code?: Judgement['code'] | 'untrusted' | 'not-taken'
  errors: Judgement['errors']
  warnings: Judgement['warnings']
  /** Of what may be sent again: what that would do. */
  retry?: string
}

/** What an envelope is, before anything is done with it. */
export function outcomeOf(
  { index, line }: Item,
  outcome: Outcome['outcome'],
  judgement: Omit<Judgement, 'valid'>,
  id: string | null,
): Outcome {
  const { variant, code, errors, warnings } = judgement
  return { index, ...(line !== undefined && { line }), outcome, id, variant, ...(code && { code }), errors, warnings }
}
