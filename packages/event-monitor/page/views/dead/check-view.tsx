import type { CheckResult } from '../../../src/api/index.ts'
import { counted } from '../../lib/format.ts'
import { FaultList } from '../../parts/json-view.tsx'
import { State } from '../../parts/marks.tsx'

interface Props {
  check: CheckResult | null
  isChecking: boolean
  /** Whether what was written is JSON: else nobody is asked. */
  isReadable: boolean
  /** Of the event as it failed, before anything was checked. */
  refusals: string[]
}

/** Whether it could be sent, and why not. */
export function CheckView({ check, isChecking, isReadable, refusals }: Props) {
  if (!isReadable) {
    return (
      <div class="card check" role="status">
        <State kind="bad">no JSON yet: see the mark in the editor</State>
      </div>
    )
  }
  if (!check) {
    return (
      <div class="card check" role="status">
        {isChecking ? <State kind="plain">checking…</State> : <Why refusals={refusals} />}
      </div>
    )
  }
  return (
    <div class="card check" role="status">
      {check.isReady ? (
        <State kind="good">ready: every receiver would take it</State>
      ) : (
        <State kind="bad">it would be refused again</State>
      )}
      {check.faults.length > 0 ? <FaultList faults={check.faults} /> : <Why refusals={check.refusals} />}
      {check.changes.length > 0 && (
        <details open={check.changes.length < 6}>
          <summary>{counted(check.changes.length, 'change')}</summary>
          <ul class="changes">
            {check.changes.map(({ pointer, before, after }) => (
              <li key={pointer}>
                <code>{pointer}</code> <del>{before === undefined ? '(nothing)' : JSON.stringify(before)}</del>{' '}
                <ins>{after === undefined ? '(nothing)' : JSON.stringify(after)}</ins>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

function Why({ refusals }: { refusals: string[] }) {
  if (refusals.length === 0) return null
  return (
    <ul>
      {refusals.map((refusal) => (
        <li key={refusal}>{refusal}</li>
      ))}
    </ul>
  )
}
