import type { CheckResult, DryRunResult } from '../../../src/api/index.ts'
import { counted } from '../../lib/format.ts'
import { outcomeOf, summaryOf } from '../../lib/outcomes.ts'
import { FaultList } from '../../parts/json-view.tsx'
import { State } from '../../parts/marks.tsx'

interface Props {
  check: CheckResult | null
  isChecking: boolean
  isReadable: boolean
  /** Reasons why the event was rejected before the edit. */
  refusals: string[]
}

export const CheckView = (props: Props) => (
  <div class="card check" role="status">
    <Checked {...props} />
  </div>
)

function Checked({ check, isChecking, isReadable, refusals }: Props) {
  if (!isReadable) return <State kind="bad">not JSON yet: correct the marked line in the editor</State>
  if (!check) return isChecking ? <State kind="plain">checking…</State> : <Why refusals={refusals} />
  return (
    <>
      {check.dryRun ? (
        <Outcomes result={check.dryRun} />
      ) : (
        <State kind="bad">services would reject this event again</State>
      )}
      {check.faults.length > 0 ? <FaultList faults={check.faults} /> : <Why refusals={check.refusals} />}
      {check.changes.length > 0 && (
        <details open={check.changes.length < 6}>
          <summary>{counted(check.changes.length, 'change')}</summary>
          <ul class="changes">
            {check.changes.map(({ pointer, before, after }) => (
              <li key={pointer}>
                <code>{pointer}</code> <del>{before === undefined ? '(absent)' : JSON.stringify(before)}</del>{' '}
                <ins>{after === undefined ? '(absent)' : JSON.stringify(after)}</ins>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
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

/** The outcome in all services, and in each of them. */
function Outcomes({ result }: { result: DryRunResult }) {
  const { kind, text } = summaryOf(result)
  return (
    <>
      <State kind={kind}>{text}</State>
      <ul aria-label="Outcome in each service">
        {result.services.map((verdict) => (
          <li key={verdict.service}>
            <strong>{verdict.service}</strong>{' '}
            <span class={`mark ${outcomeOf(verdict).kind}`}>{outcomeOf(verdict).text}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
