import { type Signal, useSignal } from '@preact/signals'
import type { Problem } from '../../src/api/index.ts'
import { asProblem } from './load.ts'

/** What somebody asks for by a button, of which one is under way at a time. */
export interface Task<Name extends string> {
  busy: Signal<Name | null>
  /** Of the last one that failed. */
  problem: Signal<Problem | null>
  run: (name: Name, act: () => Promise<void>) => Promise<void>
}

export function useTask<Name extends string>(): Task<Name> {
  const busy = useSignal<Name | null>(null)
  const problem = useSignal<Problem | null>(null)
  return {
    busy,
    problem,
    async run(name, act) {
      busy.value = name
      problem.value = null
      try {
        await act()
      } catch (error) {
        problem.value = asProblem(error)
      } finally {
        busy.value = null
      }
    },
  }
}
