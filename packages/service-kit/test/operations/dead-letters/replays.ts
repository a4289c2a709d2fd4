import { positionText } from '@orderflow/kafka-log'
import { type Entry, readDeadLetters } from '../../../src/operations/dead-letters/entries.ts'
import { type Outcome, replayEntries } from '../../../src/operations/dead-letters/replay.ts'
import type { ReplayRecord } from '../../../src/operations/dead-letters/replay-record.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { openTrust as trust } from '../../support/open-trust.ts'
import { bytesOf, event, note } from './records.ts'

/** An empty log in memory for each test, and replays of its dead letters. */
export function replays() {
  const tested = { log: new FakeLog() }
  beforeEach(() => {
    tested.log = new FakeLog()
  })
  const entries = async () => (await readDeadLetters(tested.log)).entries

  async function publish({ origin, of, record, ...content }: ReplayRecord) {
    const as = positionText(tested.log.append({ ...origin, ...content }))
    note(tested.log, of, as, record)
    return { result: 'replayed' as const, as }
  }
  /** Returns the results by the app of the dead letter. */
  async function replay(chosen: Entry[], options = {}): Promise<Record<string, Outcome['result'][]>> {
    const outcomes: Outcome[] = []
    for await (const outcome of replayEntries(tested.log, publish, chosen, { trust, ...options }))
      outcomes.push(outcome)
    const byApp = Map.groupBy(outcomes, ({ entry }) => entry.app)
    return Object.fromEntries([...byApp].map(([app, own]) => [app, own.map(({ result }) => result)]))
  }
  const published = () => tested.log.records.filter(({ topic }) => topic === 'orderevents')
  return Object.assign(tested, { entries, publish, replay, published })
}

export const value = bytesOf(event)
