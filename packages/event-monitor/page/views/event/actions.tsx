import { useSignal } from '@preact/signals'
import { type DryRunResult, type EventDetail, type Fixture, paths, type Revealed } from '../../../src/api/index.ts'
import { get, post } from '../../data/api.ts'
import { may } from '../../data/me.ts'
import { useTask } from '../../data/task.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { DryRunView } from '../../parts/dry-run.tsx'
import { Reveal, RevealedView } from './reveal.tsx'

/** What somebody may do with a record; what they may not says so. */
export function Actions({ detail }: { detail: EventDetail }) {
  const { place } = detail.row
  const { busy, problem, run } = useTask<'dry-run' | 'fixture'>()
  const dryRun = useSignal<DryRunResult | null>(null)
  const isAsking = useSignal(false)
  const revealed = useSignal<Revealed | null>(null)
  return (
    <>
      <div class="actions">
        <button
          type="button"
          disabled={busy.value !== null || !may('events:operate')}
          title={may('events:operate') ? 'Nothing is published, nothing changes' : 'Needs the scope events:operate'}
          onClick={() =>
            run('dry-run', async () => {
              dryRun.value = await post<DryRunResult>(paths.dryRun, { place })
            })
          }
        >
          {busy.value === 'dry-run' ? 'Asking the services…' : 'Dry run'}
        </button>
        <button
          type="button"
          disabled={busy.value !== null}
          onClick={() => run('fixture', async () => save(await get<Fixture>(paths.fixture(place))))}
        >
          Save as fixture
        </button>
        {(detail.masked.length > 0 || detail.document === null) && (
          <button
            type="button"
            disabled={!may('events:reveal')}
            title={may('events:reveal') ? 'It is recorded who looked, and why' : 'Needs the scope events:reveal'}
            onClick={() => (isAsking.value = true)}
          >
            Reveal {detail.document === null ? 'what was sent' : `${detail.masked.length} masked`}…
          </button>
        )}
      </div>
      {problem.value && <ProblemBox problem={problem.value} />}
      {dryRun.value && (
        <section aria-label="Dry run">
          <h2>What each service would do now</h2>
          <DryRunView result={dryRun.value} />
        </section>
      )}
      {isAsking.value && (
        <Reveal
          place={place}
          close={() => (isAsking.value = false)}
          took={(value) => {
            isAsking.value = false
            revealed.value = value
          }}
        />
      )}
      {revealed.value && <RevealedView revealed={revealed.value} hide={() => (revealed.value = null)} />}
    </>
  )
}

/** A file for `envelope-schema/fixtures/`, by the browser's own way of saving. */
function save({ fileName, document }: Fixture): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(document, null, 2)}\n`], { type: 'application/json' }))
  const link = Object.assign(globalThis.document.createElement('a'), { href: url, download: fileName })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
