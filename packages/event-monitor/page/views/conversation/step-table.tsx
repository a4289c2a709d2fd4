import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Conversation, Step } from '../../../src/api/index.ts'
import { since } from '../../lib/format.ts'
import { isRecord, notesOf, titleOf } from '../../lib/lifeline.ts'
import { Columns } from '../../parts/columns.tsx'
import { PlaceLink, ValidityMark } from '../../parts/marks.tsx'

interface Props {
  conversation: Conversation
  active: number
  open: (index: number) => void
}

/** So many at once: a table is read from its beginning. */
const page = 300

/** The lifeline in words. */
export function StepTable({ conversation: { steps, lanes }, active, open }: Props) {
  const shown = useSignal(page)
  const start = useRef(steps.reduce((first, { row }) => Math.min(first, Date.parse(row.at)), Infinity))
  const title = (lane: string) => lanes.find(({ id }) => id === lane)?.title ?? lane
  return (
    <div class="table-box">
      <table class="stacked">
        <Columns of={['Step', 'After', 'What', 'From, to', 'Because of', 'Taken by', 'Record']} />
        <tbody>
          {steps.slice(0, Math.max(shown.value, active + 1)).map((step, index) => (
            <tr key={index} class={index === active ? 'is-active' : ''}>
              <td data-name="Step">
                <button type="button" class="plain" aria-label={`Open step ${index + 1}`} onClick={() => open(index)}>
                  {index + 1}
                </button>
              </td>
              <td data-name="After">{isRecord(step) && since(Date.parse(step.row.at) - start.current)}</td>
              <td data-name="What">
                <strong>{titleOf(step)}</strong> {isRecord(step) && <ValidityMark validity={step.row.validity} />}
                {notesOf(step).map(({ kind, text }) => (
                  <div key={text} class={`note-text mark ${kind === 'warn' ? 'warn' : 'plain'}`}>
                    {kind === 'warn' ? '!' : '↻'} {text}
                  </div>
                ))}
              </td>
              <td data-name="From, to">
                {title(step.from)} → {title(step.to)}
              </td>
              <td data-name="Because of">{step.cause === null ? 'begins' : `step ${step.cause + 1}`}</td>
              <td data-name="Taken by">{isRecord(step) && <Takers step={step} title={title} />}</td>
              <td data-name="Record">
                <PlaceLink place={step.row.place} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.value < steps.length && (
        <p class="list-foot">
          {shown.value} of {steps.length} steps{' '}
          <button type="button" onClick={() => (shown.value += page)}>
            More
          </button>
        </p>
      )}
    </div>
  )
}

function Takers({ step: { consumers }, title }: { step: Step; title: (lane: string) => string }) {
  if (consumers.length === 0) return <span class="quiet">nobody</span>
  return (
    <>
      {consumers.map(({ lane, handled, isSetAside, reaction }) => (
        <div key={lane}>
          {title(lane)}: {isSetAside ? 'set aside' : handled === null ? 'not known' : handled ? 'handled' : 'not yet'}
          {reaction.length > 0 && `, then step ${reaction.map((index) => index + 1).join(', ')}`}
        </div>
      ))}
    </>
  )
}
