import type { ComponentChildren } from 'preact'
import type { Problem } from '../../src/api/index.ts'
import { isSigningIn } from '../data/api.ts'
import type { Loaded } from '../data/load.ts'
import { nextStepOf } from '../lib/words.ts'

/** What went wrong, what of it, and what to do. */
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
        <button type="button" onClick={() => (isSigningIn.value = true)}>
          Sign in
        </button>
      ) : (
        again && (
          <button type="button" onClick={again}>
            Try again
          </button>
        )
      )}
    </div>
  )
}

/** Nothing there: what would be, and what fills it. */
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
    Place an order: <code>make demo</code>. It appears here at once.
  </p>
)

interface AnswerProps<Data> {
  of: Loaded<Data>
  again?: () => void
  children: (data: Data) => ComponentChildren
}

/** The answer once it is there; what is there stays when asking again fails, and says so. */
export function Answer<Data>({ of: { data, problem }, again, children }: AnswerProps<Data>) {
  return (
    <>
      {problem && <ProblemBox problem={problem} again={again} />}
      {data !== null && children(data)}
      {data === null && !problem && <p class="loading">Loading…</p>}
    </>
  )
}
