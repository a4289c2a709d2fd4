import type { SchemaUse } from '../../../src/api/index.ts'
import { searchOf } from '../../lib/filters.ts'
import { count, counted } from '../../lib/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { publisherOf, State, Time } from '../../parts/marks.tsx'

/** One version of an event. */
export function SchemaCard({ use, newest }: { use: SchemaUse; newest: SchemaUse | undefined }) {
  const {
    type,
    name,
    version,
    isNewest,
    events,
    lastSeen,
    publishers,
    producedBy,
    consumedBy,
    topics,
    personal,
    compatibility,
  } = use
  const isOld = !isNewest && publishers.length > 0
  return (
    <section class="card schema" aria-label={type}>
      <h3>
        <a href={`/${searchOf({ name: [name], version: [version] })}`}>{type}</a>{' '}
        {isNewest ? (
          <State kind="good">newest</State>
        ) : (
          <State kind={isOld ? 'warn' : 'plain'}>{isOld ? 'old, and still sent' : 'old, sent by nobody'}</State>
        )}
      </h3>
      <p>
        {counted(events, 'event')}
        {lastSeen && (
          <>
            , last <Time iso={lastSeen} />
          </>
        )}{' '}
        · from {producedBy.join(', ') || 'nobody here'} to {consumedBy.join(', ') || 'nobody here'} over{' '}
        {topics.join(', ') || 'no topic'}
      </p>
      {publishers.length > 0 && (
        <p>
          Sent by{' '}
          {publishers.map((publisher, index) => (
            <span key={publisher.appId ?? index}>
              {index > 0 && ', '}
              {publisherOf(publisher)} <span class="quiet">({count(publisher.count)})</span>
            </span>
          ))}
          {isOld && newest && <span class="mark warn"> · ! not yet {newest.type}</span>}
        </p>
      )}
      {personal.length > 0 && (
        <p>
          Personal:{' '}
          {personal.map((pointer) => (
            <span key={pointer}>
              <code>{pointer}</code>{' '}
            </span>
          ))}
        </p>
      )}
      {compatibility && (
        <details open={!compatibility.isCompatible}>
          <summary>
            {compatibility.isCompatible ? (
              <State kind="good">readers of {compatibility.with} can read it</State>
            ) : (
              <State kind="bad">readers of {compatibility.with} cannot read it</State>
            )}
          </summary>
          <ul>
            {compatibility.changes.map(({ pointer, what, breaks }) => (
              <li key={pointer + what}>
                <code>{pointer}</code> {what} {breaks && <State kind="bad">breaks</State>}
              </li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary>Schema</summary>
        <JsonView label={`Schema of ${type}`} document={use.schema} />
      </details>
    </section>
  )
}
