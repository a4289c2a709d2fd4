import { useSignal } from '@preact/signals'
import { type Fixture, paths, type RecordPosition } from '../../../src/api/index.ts'
import { get } from '../../data/api.ts'
import { useTask } from '../../data/load.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Button } from '../../parts/controls.tsx'

/** The button that downloads an event as a fixture, and then names the folder for the file. */
export function SaveFixture({ position }: { position: RecordPosition }) {
  const { isBusy, problem, run } = useTask()
  const saved = useSignal<Fixture | null>(null)
  return (
    <>
      <Button
        disabled={isBusy.value}
        title="Downloads the event with example values, as a test of the service that received it"
        onClick={() =>
          run(async (signal) => {
            saved.value = null
            const fixture = await get<Fixture>(paths.fixture(position), signal)
            download(fixture)
            saved.value = fixture
          })
        }
      >
        Save as fixture
      </Button>
      {saved.value && <Hint fixture={saved.value} />}
      {problem.value && <ProblemBox problem={problem.value} />}
    </>
  )
}

function Hint({ fixture: { fileName, folders } }: { fixture: Fixture }) {
  if (folders.length === 0) return <span role="status">{fileName} was downloaded. No service consumes its topic.</span>
  return (
    <span role="status">
      Move {fileName} to{' '}
      {folders.map((folder, index) => (
        <span key={folder}>
          {index > 0 && ' or '}
          <code>{folder}</code>
        </span>
      ))}
      . The tests of the service then run it.
    </span>
  )
}

function download({ fileName, content }: Fixture): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: 'application/json' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: fileName })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
