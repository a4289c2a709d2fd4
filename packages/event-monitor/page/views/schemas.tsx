import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { paths, type Schemas, type SchemaUse, type Validated } from '../../src/api/index.ts'
import { post } from '../data/api.ts'
import { useTask } from '../data/load.ts'
import { searchOf } from '../lib/filters.ts'
import { count, counted } from '../lib/format.ts'
import { Empty, ProblemBox } from '../parts/answers.tsx'
import { Button, Choices } from '../parts/controls.tsx'
import { Editor } from '../parts/editor.tsx'
import { FaultList, JsonView } from '../parts/json-view.tsx'
import { publisherOf, State, Time, ValidityMark } from '../parts/marks.tsx'
import { AnswerView, type View } from '../parts/view.tsx'

export const SchemasView: View<'schemas'> = () => (
  <AnswerView<Schemas>
    title="Schemas"
    path={paths.schemas}
    everyMs={10_000}
    shown={({ items }) => counted(items.length, 'version')}
    above={() => (
      <>
        <Validator />
        <h2>Versions</h2>
      </>
    )}
  >
    {({ items }) =>
      items.length === 0 ? (
        <Empty title="No schemas.">
          <p>
            The schemas of events are in <code>envelope-schema/schemas/</code>.
          </p>
        </Empty>
      ) : (
        <div class="schema-list">
          {items.map((use) => (
            <SchemaCard
              key={use.type}
              use={use}
              newest={items.find(({ name, isNewest }) => isNewest && name === use.name)}
            />
          ))}
        </div>
      )
    }
  </AnswerView>
)

function SchemaCard({ use, newest }: { use: SchemaUse; newest: SchemaUse | undefined }) {
  const { type, name, version, isNewest, events, lastSeen, publishers } = use
  const { producedBy, consumedBy, topics, personal, compatibility } = use
  const isOld = !isNewest && publishers.length > 0
  return (
    <section class="card schema" aria-label={type}>
      <h3>
        <a href={`/${searchOf({ name: [name], version: [version] })}`}>{type}</a>{' '}
        {isNewest ? (
          <State kind="good">newest</State>
        ) : (
          <State kind={isOld ? 'warn' : 'plain'}>{isOld ? 'old, still published' : 'old, not published'}</State>
        )}
      </h3>
      <p>
        {counted(events, 'event')}
        {lastSeen && (
          <>
            , last <Time iso={lastSeen} />
          </>
        )}{' '}
        · published by {producedBy.join(', ') || 'no service here'} to {topics.join(', ') || 'no topic'}, and handled by{' '}
        {consumedBy.join(', ') || 'no service here'}
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
          {isOld && newest && <span class="mark warn"> · ! the newest version is {newest.type}</span>}
        </p>
      )}
      {personal.length > 0 && (
        <p>
          Personal fields:{' '}
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
            <State kind={compatibility.isCompatible ? 'good' : 'bad'}>
              readers of {compatibility.with} {compatibility.isCompatible ? 'can' : 'cannot'} read this version
            </State>
          </summary>
          <ul>
            {compatibility.changes.map(({ pointer, what, breaks }) => (
              <li key={pointer + what}>
                <code>{pointer}</code> {what} {breaks && <State kind="bad">breaking change</State>}
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

function Validator() {
  const isOpen = useSignal(false)
  if (isOpen.value) return <Form />
  return (
    <p>
      <Button onClick={() => (isOpen.value = true)}>Validate an event</Button>
    </p>
  )
}

const readers = [
  ['received', 'As a receiver'],
  ['full', 'As a publisher (full variant)'],
] as const

function Form() {
  const text = useSignal('')
  const as = useSignal<'received' | 'full'>('received')
  const result = useSignal<Validated | null>(null)
  const { problem, run, cancel } = useTask()
  useEffect(() => {
    cancel()
    result.value = null
    if (text.value.trim() === '') return
    void run(async (signal) => {
      const validated = await post<Validated>(paths.validate, { text: text.value, as: as.value }, { signal })
      if (!signal.aborted) result.value = validated
    }, 300)
  }, [text.value, as.value])
  return (
    <section class="edit-columns" aria-label="Validate an event">
      <div>
        <Editor
          label="Event to validate"
          text={text.value}
          faults={result.value?.faults ?? []}
          changed={(next) => (text.value = next)}
        />
      </div>
      <div>
        <p role="group" aria-label="Validate">
          <Choices of={readers} chosen={as.value} choose={(next) => (as.value = next)} />
        </p>
        <div class="card" role="status">
          {!result.value && !problem.value && <p class="quiet">Paste an event. The monitor does not store it.</p>}
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
