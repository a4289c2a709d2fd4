import { whereIs } from '@orderflow/kafka-log'
import { expect } from 'chai'
import type { Entry } from '../../../src/operations/dead-letters/entries.ts'
import type { Published, ReplayIntent, ReplayJournal } from '../../../src/operations/dead-letters/publish.ts'
import { deadLetterEnds } from '../../../src/operations/dead-letters/records.ts'
import { type Outcome, replayEntries } from '../../../src/operations/dead-letters/replay.ts'
import type { ReplayRecord } from '../../../src/operations/dead-letters/replay-record.ts'
import { openTrust as trust } from '../../support/open-trust.ts'
import { fail, note } from './records.ts'
import { replays, value } from './replays.ts'

describe('replayDeadLetters, if dead letters are replayed again', () => {
  const tested = replays()
  const { entries, publish, replay, published } = tested

  describe('two processes that replay the same dead letters', () => {
    it('publish an event only once if both have listed it before either of them replays it', async () => {
      for (let offset = 1; offset <= 60; offset += 1)
        fail(tested.log, 'order-service', offset, 'handler-error', { value })
      const [readUpTo, listed] = [await deadLetterEnds(tested.log), await entries()]
      await replay(listed)
      const results = await replay(listed, { readUpTo })
      expect(new Set(results['order-service'])).to.deep.equal(new Set(['done']))
      expect(published()).to.have.length(60)
    })

    it('publish an event only once if one process replays it while the other process’s command runs', async () => {
      for (let offset = 1; offset <= 60; offset += 1)
        fail(tested.log, 'order-service', offset, 'handler-error', { value })
      const listed = await entries()
      const outcomes: Outcome[] = []
      for await (const outcome of replayEntries(tested.log, publish, listed, { trust })) {
        // After the first batch of 50 events, the other process replays the last event.
        if (outcomes.length === 0) await replay(listed.slice(-1))
        outcomes.push(outcome)
      }
      expect(published()).to.have.length(60)
      expect(outcomes.at(-1)).to.deep.include({ result: 'done', as: 'orderevents/0/50' })
    })

    it('report the record that the other process published, even in a dry run or for an event that would be refused', async () => {
      fail(tested.log, 'order-service', 1, 'conflicting-order', { value })
      const listed = await entries()
      note(tested.log, 'orderevents/0/1', 'orderevents/0/7')
      for await (const outcome of replayEntries(tested.log, publish, listed, { trust, dryRun: true })) {
        expect(outcome).to.deep.include({ result: 'done', as: 'orderevents/0/7' })
      }
    })

    it('find the other process’s replay even if the dead-letter topic was created again after the listing', async () => {
      fail(tested.log, 'order-service', 1, 'handler-error', { value })
      const listed = await entries()
      note(tested.log, 'orderevents/0/1', 'orderevents/0/7')
      const readUpTo = new Map([['orderevents.dead/0', 1_000n]])
      expect(await replay(listed, { readUpTo })).to.deep.equal({ 'order-service': ['done'] })
    })
  })

  describe('a replay of a given attempt', () => {
    async function failedAgain(): Promise<Entry> {
      fail(tested.log, 'order-service', 1, 'handler-error', { value })
      note(tested.log, 'orderevents/0/1', 'orderevents/0/7')
      fail(tested.log, 'order-service', 7, 'handler-error', { value, replayedFrom: 'orderevents/0/1' })
      return (await entries())[0] as Entry
    }
    async function outcomeOf(entry: Entry, attempt: string): Promise<Outcome | undefined> {
      const attempts = new Map([[entry.id, attempt]])
      for await (const outcome of replayEntries(tested.log, publish, [entry], { trust, attempts })) return outcome
      return undefined
    }

    it('publishes nothing if the given attempt was already replayed, even if a newer attempt is open', async () => {
      const outcome = await outcomeOf(await failedAgain(), 'orderevents/0/1')
      expect(outcome).to.deep.include({ result: 'done', as: 'orderevents/0/7' })
      expect(published()).to.have.length(0)
    })

    it('publishes the event if the given attempt is the newest', async () => {
      expect(await outcomeOf(await failedAgain(), 'orderevents/0/7')).to.deep.include({ result: 'replayed' })
    })

    it('refuses an unknown attempt', async () => {
      const outcome = await outcomeOf(await failedAgain(), 'orderevents/0/8')
      expect(outcome?.result === 'refused' && outcome.why.join()).to.contain('no attempt at orderevents/0/8')
    })
  })

  describe('a replay after a killed process', () => {
    const intents = new Map<string, ReplayIntent>()
    const journal: ReplayJournal = {
      begin(begun) {
        for (const intent of begun) if (!intents.has(intent.of)) intents.set(intent.of, intent)
      },
      begun: (of) => intents.get(of),
    }
    beforeEach(() => intents.clear())
    /** Publishes as `publishReplay` does, but fails before it writes the note, as if the process was killed. */
    const killed = async ({ origin, of: _, ...record }: ReplayRecord): Promise<never> => {
      tested.log.append({ ...origin, ...record })
      throw new Error('killed')
    }
    const noteOrPublish = async (replay: ReplayRecord) => {
      if (replay.publishedAs === undefined) return await publish(replay)
      note(tested.log, replay.of, replay.publishedAs)
      return { result: 'replayed' as const, as: replay.publishedAs }
    }
    async function run(publishing: (replay: ReplayRecord) => Promise<Published>): Promise<Outcome[]> {
      const outcomes: Outcome[] = []
      for await (const outcome of replayEntries(tested.log, publishing, await entries(), { trust, journal }))
        outcomes.push(outcome)
      return outcomes
    }

    it('writes the missing notes, and does not publish the records again', async () => {
      for (const offset of [1, 2, 3]) {
        fail(tested.log, 'order-service', offset, 'handler-error', { value, key: `k${offset}` })
      }
      expect(await run(killed).catch((error: Error) => error.message)).to.equal('killed')
      expect(published()).to.have.length(3)
      const outcomes = await run(noteOrPublish)
      expect(outcomes.map(({ result }) => result)).to.deep.equal(['replayed', 'replayed', 'replayed'])
      expect(outcomes.map((outcome) => 'as' in outcome && outcome.as)).to.have.members(
        published().map((record) => whereIs(record)),
      )
      expect(published()).to.have.length(3)
    })

    it('publishes the records that did not reach the log', async () => {
      fail(tested.log, 'order-service', 1, 'handler-error', { value })
      const unsent = () => Promise.reject(new Error('killed'))
      await run(unsent).catch(() => {})
      const [intent] = intents.values()
      // Another publisher's record claims to be the replay.
      tested.log.append({ topic: 'orderevents', value: '{}', headers: { 'replayed-from': 'orderevents/0/1' } })
      expect((await run(noteOrPublish))[0]?.result).to.equal('replayed')
      expect(published()).to.have.length(2)
      expect([...intents.values()]).to.deep.equal([intent])
    })
  })
})
