import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Problem } from '../../src/api/index.ts'
import { ApiProblem, get } from './api.ts'

export interface Loaded<Answer> {
  data: Answer | null
  problem: Problem | null
  isLoading: boolean
}
interface Load<Answer> {
  state: Signal<Loaded<Answer>>
  again: () => void
}

/** Waiting time after a failed request, in milliseconds. */
const patience = 3000

/**
 * Loads a path, and loads again when the path changes. If a repeated request fails, the last answer stays.
 * @param path the path to load; null sends no request
 * @param everyMs time between an answer and the next request, while the tab is visible
 */
export function useLoad<Answer>(path: string | null, everyMs?: number): Load<Answer> {
  const state = useSignal<Loaded<Answer>>({ data: null, problem: null, isLoading: true })
  const again = useRef(() => {})
  useEffect(() => {
    state.value = { data: null, problem: null, isLoading: path !== null }
    if (path === null) return
    let [controller, timer] = [new AbortController(), undefined as ReturnType<typeof setTimeout> | undefined]
    const ask = async () => {
      clearTimeout(timer)
      controller.abort()
      const current = new AbortController()
      controller = current
      state.value = { ...state.value, isLoading: true }
      try {
        state.value = { data: await get<Answer>(path, current.signal), problem: null, isLoading: false }
        if (everyMs) timer = setTimeout(next, everyMs)
      } catch (error) {
        if (current.signal.aborted) return
        const problem = asProblem(error)
        state.value = { ...state.value, problem, isLoading: false }
        // Tries again after a temporary failure, and after a 404, because the missing record may still arrive.
        const wait = isPassing(problem) ? patience : problem.status === 404 ? everyMs : undefined
        if (wait) timer = setTimeout(next, wait)
      }
    }
    const next = () => {
      if (document.hidden) timer = setTimeout(next, 1000)
      else void ask()
    }
    again.current = () => void ask()
    void ask()
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [path, everyMs])
  return { state, again: () => again.current() }
}

export function asProblem(error: unknown): Problem {
  if (error instanceof ApiProblem) return error.problem
  return { type: 'about:blank', title: 'The page has failed. Reload it.', status: -1, detail: String(error) }
}

export const isPassing = ({ status }: Problem) => status === 0 || status === 429 || status >= 500

interface Task {
  isBusy: Signal<boolean>
  problem: Signal<Problem | null>
  /** Runs an action. A new action cancels the previous one. The action must not use its results after the signal has aborted. */
  run: (act: (signal: AbortSignal) => Promise<void>, afterMs?: number) => Promise<void>
  /** Cancels the current action, for example because its input has changed, and removes its problem. */
  cancel: () => void
}

export function useTask(): Task {
  const isBusy = useSignal(false)
  const problem = useSignal<Problem | null>(null)
  const current = useRef<AbortController | null>(null)
  const cancel = () => {
    current.current?.abort()
    isBusy.value = false
    problem.value = null
  }
  useEffect(() => cancel, [])
  return {
    isBusy,
    problem,
    cancel,
    async run(act, afterMs = 0) {
      cancel()
      current.current = new AbortController()
      const { signal } = current.current
      isBusy.value = true
      try {
        if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
        if (!signal.aborted) await act(signal)
      } catch (error) {
        if (!signal.aborted) problem.value = asProblem(error)
      } finally {
        if (!signal.aborted) isBusy.value = false
      }
    },
  }
}
