import type { ComponentChildren } from 'preact'
import type { Problem } from '../../src/api/index.ts'
import { isSigningIn } from '../data/api.ts'
import type { Loaded } from '../data/load.ts'
import { nextStepOf } from '../lib/words.ts'
import { Button } from './controls.tsx'

export function ProblemBox({ problem, again }: { problem: Problem; again?: (() => void) | undefined }) {
  return (
    <div class="problem" role="alert">
      <h2>
        <span aria-hidden="true">✕</span> {problem.title}
      </h2>
      {problem.detail && !problem.errors?.length && <p>{problem.detail}</p>}
      {problem.errors && (
        <ul>
          {problem.errors.map(({ pointer, parameter, detail }) => (
            <li key={`${pointer}${parameter}${detail}`}>
              {(pointer ?? parameter) && <code>{pointer ?? parameter}</code>} {detail}
            </li>
          ))}
        </ul>
      )}
      <p class="next">{nextStepOf(problem)}</p>
      {problem.status === 401 ? (
        <Button onClick={() => (isSigningIn.value = true)}>Sign in</Button>
      ) : (
        again && <Button onClick={again}>Try again</Button>
      )}
    </div>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  )
}

export const TryDemo = () => (
  <p>
    Run <code>make demo</code> to publish events. They appear here within a second.
  </p>
)

interface AnswerProps<Data> {
  of: Loaded<Data>
  again?: () => void
  children: (data: Data) => ComponentChildren
}

/** Keeps the old answer below the problem if a later request fails. */
export function Answer<Data>({ of: { data, problem }, again, children }: AnswerProps<Data>) {
  return (
    <>
      {problem && <ProblemBox problem={problem} again={again} />}
      {data !== null && children(data)}
      {data === null && !problem && <p class="loading">Loading…</p>}
    </>
  )
}
