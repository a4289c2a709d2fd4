import type { DryRunResult, ServiceVerdict, StateChange } from '../../src/api/index.ts'
import { outcomeOf } from '../lib/outcomes.ts'
import { FaultList } from './json-view.tsx'
import { State } from './marks.tsx'

export function DryRunView({ result: { services } }: { result: DryRunResult }) {
  if (services.length === 0) return <p>No service consumes this topic.</p>
  return (
    <div class="verdicts">
      {services.map((verdict) => (
        <section class="card" key={verdict.service} aria-label={verdict.service}>
          <h3>{verdict.service}</h3>
          <Verdict verdict={verdict} />
        </section>
      ))}
    </div>
  )
}

function Verdict({ verdict }: { verdict: ServiceVerdict }) {
  if (verdict.result === 'unknown') return <State kind="warn">{outcomeOf(verdict).text}</State>
  const { kind, text } = outcomeOf(verdict)
  return (
    <>
      <State kind={kind}>{text}</State>
      <Conflicts of={verdict} />
      {verdict.result === 'dead-letter' ? (
        <>
          <p>{verdict.detail}</p>
          <FaultList faults={verdict.faults} />
        </>
      ) : (
        <Published events={verdict.publishes} />
      )}
      {verdict.result === 'changes' && verdict.changes.map((change) => <Change key={change.key} change={change} />)}
    </>
  )
}

function Conflicts({ of }: { of: Exclude<ServiceVerdict, { result: 'unknown' }> }) {
  if (of.conflicts.length === 0) return null
  return (
    <p>
      This service has accepted the original event, with other values in{' '}
      {of.conflicts.map((pointer, index) => (
        <span key={pointer}>
          {index > 0 && ', '}
          <code class="whole">{pointer}</code>
        </span>
      ))}
      .{' '}
      {of.result === 'changes'
        ? 'Other parts of its data may still come from the original. Compare its data below.'
        : 'It keeps these values.'}{' '}
      To replace them, publish an event that corrects the original in this service.
    </p>
  )
}

function Published({ events }: { events: { topic: string; type: string }[] }) {
  if (events.length === 0) return null
  return (
    <p>
      would publish{' '}
      {events.map(({ topic, type }, index) => (
        <span key={`${topic}${type}`}>
          {index > 0 && ', '}
          <strong>{type}</strong> to {topic}
        </span>
      ))}
    </p>
  )
}

function Change({ change: { key, before, after } }: { change: StateChange }) {
  return (
    <div class="change">
      <p>
        <code class="whole">{key}</code> {before === null && <span class="quiet">(new)</span>}
      </p>
      <div class="before-after">
        {before !== null && <pre data-name="before">{JSON.stringify(before, null, 2)}</pre>}
        <pre data-name={before === null ? 'new content' : 'after'}>{JSON.stringify(after, null, 2)}</pre>
      </div>
    </div>
  )
}
