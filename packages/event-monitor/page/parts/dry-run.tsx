import type { DryRunResult, ServiceVerdict, StateChange } from '../../src/api/index.ts'
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
  switch (verdict.result) {
    case 'dead-letter':
      return (
        <>
          <State kind="bad">would reject this event: {verdict.reason}</State>
          <p>{verdict.detail}</p>
          <FaultList faults={verdict.faults} />
        </>
      )
    case 'changes':
      return (
        <>
          <State kind="good">would accept this event</State>
          <Published events={verdict.publishes} />
          {verdict.changes.length === 0 && <p>The service’s stored data would not change.</p>}
          {verdict.changes.map((change) => (
            <Change key={change.key} change={change} />
          ))}
        </>
      )
    case 'no-effect':
      return (
        <>
          <State kind="plain">
            {verdict.why === 'duplicate'
              ? 'has already handled this event and would change nothing'
              : 'would ignore this event'}
          </State>
          <Published events={verdict.publishes} />
        </>
      )
    case 'unknown':
      return <State kind="warn">did not answer: {verdict.why}</State>
  }
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
