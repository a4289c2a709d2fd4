import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Problem, paths, type Validated } from '../../../src/api/index.ts'
import { post } from '../../data/api.ts'
import { asProblem } from '../../data/load.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Editor } from '../../parts/editor.tsx'
import { FaultList } from '../../parts/json-view.tsx'
import { State, ValidityMark } from '../../parts/marks.tsx'

/** Pasted text, checked as any receiver would, while somebody writes. Nothing of it is kept. */
export function Validator() {
  const isOpen = useSignal(false)
  if (!isOpen.value) {
    return (
      <p>
        <button type="button" onClick={() => (isOpen.value = true)}>
          Check a text: is it an event?
        </button>
      </p>
    )
  }
  return <Form />
}

function Form() {
  const text = useSignal('')
  const as = useSignal<'received' | 'full'>('received')
  const result = useSignal<Validated | null>(null)
  const problem = useSignal<Problem | null>(null)
  useEffect(() => {
    result.value = null
    problem.value = null
    if (text.value.trim() === '') return
    const controller = new AbortController()
    const timer = setTimeout(async () => {
      try {
        result.value = await post<Validated>(
          paths.validate,
          { text: text.value, as: as.value },
          { signal: controller.signal },
        )
      } catch (error) {
        if (!controller.signal.aborted) problem.value = asProblem(error)
      }
    }, 300)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [text.value, as.value])
  return (
    <section class="mend-columns" aria-label="Check a text">
      <div>
        <Editor
          label="An event, to be checked"
          text={text.value}
          faults={result.value?.faults ?? []}
          changed={(next) => (text.value = next)}
        />
      </div>
      <div>
        <p role="group" aria-label="As">
          <button type="button" aria-pressed={as.value === 'received'} onClick={() => (as.value = 'received')}>
            As a receiver
          </button>{' '}
          <button type="button" aria-pressed={as.value === 'full'} onClick={() => (as.value = 'full')}>
            As a publisher (full variant)
          </button>
        </p>
        <div class="card" role="status">
          {!result.value && !problem.value && <p class="quiet">Paste an event. Nothing of it is kept.</p>}
          {result.value && (
            <>
              <State kind={result.value.isValid ? 'good' : 'bad'}>{result.value.isValid ? 'valid' : 'not valid'}</State>{' '}
              <ValidityMark validity={result.value.validity} /> {result.value.type}
              <FaultList faults={result.value.faults} />
            </>
          )}
        </div>
        {problem.value && <ProblemBox problem={problem.value} />}
      </div>
    </section>
  )
}
