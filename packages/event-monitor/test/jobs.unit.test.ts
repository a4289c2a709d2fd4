import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Entry } from '@orderflow/service-kit/log'
import type { Outcome } from '@orderflow/service-kit/operations'
import { expect } from 'chai'
import type { Job } from '../src/api/dead-letters.ts'
import type { MonitorIndex } from '../src/index/monitor-index.ts'
import { createLedger, type Ledger } from '../src/jobs/ledger.ts'
import type { LogAccess } from '../src/jobs/log-access.ts'
import { createReplays, type JobRequest, type NewJob, type Replays } from '../src/jobs/replays.ts'
import type { MonitorError } from '../src/monitor-error.ts'

const ids = Array.from({ length: 12 }, (_, index) => `entry-${index}`)
const position = { topic: 'orderevents', partition: 0, offset: '1' }
const attempt = 'orderevents/0/1'
const entryOf = (id: string) => ({ id, app: 'a', origin: position, attempts: [{ position }] }) as Entry

describe('a replay job', () => {
  let folder: string
  let ledger: Ledger
  let sent: string[]
  let reports: Job[]
  let replays: Replays
  let made = 0

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'monitor-jobs-'))
    ledger = createLedger(folder)
    ;[sent, reports] = [[], []]
    isIndexed = true
    onReport = () => {}
    outcomeOf = ({ id }) =>
      id === 'entry-3'
        ? { result: 'refused', why: ['it is wrong still'] }
        : { result: 'replayed', as: 'orderevents/0/9' }
    replays = open()
  })
  afterEach(async () => {
    await replays.close()
    ledger.close()
    rmSync(folder, { recursive: true })
  })

  /** True if the test’s index contains all records of the log. */
  let isIndexed: boolean
  let onReport: (job: Job) => unknown
  let outcomeOf: (entry: Entry) => Omit<Outcome, 'entry'>

  function open(): Replays {
    const ask = async (_method: string, wanted: string[]) => ({
      entries: wanted.filter((id) => isIndexed && ids.includes(id)).map((id) => ({ entry: entryOf(id) })),
      readUpTo: new Map(),
    })
    const log: Pick<LogAccess, 'replay'> = {
      async *replay(entries) {
        for (const entry of entries) {
          sent.push(entry.id)
          yield { entry, ...outcomeOf(entry) } as Outcome
        }
      },
    }
    return createReplays({
      index: { ask, completeness: () => ({ indexLag: isIndexed ? 0 : null }) } as unknown as MonitorIndex,
      ledger,
      log: log as LogAccess,
      trust: undefined as never,
      now: () => new Date(0),
      newId: () => `job-${++made}`,
      report(job) {
        reports.push(structuredClone(job))
        void onReport(job)
      },
    })
  }

  const job = (over: Partial<NewJob> = {}): NewJob => ({
    entries: ids.map((id) => ({ id, attempt })),
    group: null,
    perSecond: 1_000,
    edited: null,
    ...over,
  })
  const request = (over: Partial<JobRequest> = {}) => ({ by: 'ada', key: undefined, fingerprint: 'f', ...over })
  const start = (over: Partial<NewJob> = {}, requested = request()) => replays.start(requested, async () => job(over))

  async function ended(id: string): Promise<Job> {
    for (;;) {
      const job = ledger.find(id)?.job
      if (job && job.state !== 'running') return job
      await delay(5)
    }
  }

  it('replays each entry once, counts the outcomes, and records the caller', async () => {
    const { id } = await start({ entries: [...ids, 'gone'].map((id) => ({ id, attempt })) })
    const { replayed, refused, total, state, outcomes } = await ended(id)
    expect({ replayed, refused, total, state }).to.deep.equal({ replayed: 11, refused: 2, total: 13, state: 'done' })
    expect(sent).to.deep.equal(ids)
    expect(outcomes.find(({ entry }) => entry === 'entry-3')?.why).to.deep.equal(['it is wrong still'])
    expect(ledger.audit(100)).to.have.length(11)
    expect(ledger.audit(1)[0]).to.include({ by: 'ada', what: 'DeadLetterReplayed' })
    expect(reports.at(-1)?.state).to.equal('done')
  })

  it('continues with the remaining entries after a restart', async () => {
    const { id } = await start({ perSecond: 10 })
    while (sent.length < 4) await delay(5)
    await replays.close()
    const before = sent.length
    expect(ledger.find(id)?.job.state).to.equal('running')
    replays = open()
    replays.resume()
    await ended(id)
    expect(before).to.be.below(ids.length)
    expect(sent).to.deep.equal(ids)
  })

  it('starts once if a caller repeats a request with the same Idempotency-Key, immediately or after a restart', async () => {
    let prepared = 0
    const prepare = async () => {
      prepared += 1
      await delay(5)
      return job()
    }
    const both = ['ada', 'ada', 'bob'].map((by) => replays.start(request({ by, key: 'k' }), prepare))
    const [first, again, other] = await Promise.all(both)
    expect(first?.id).to.equal(again?.id).and.not.to.equal(other?.id)
    for (const { id } of [first, other] as Job[]) await ended(id)
    await replays.close()
    replays = open()
    const answer = await replays.start(request({ key: 'k' }), prepare)
    expect([answer.id, answer.state, prepared]).to.deep.equal([first?.id, 'done', 2])
    expect(sent).to.have.length(2 * ids.length)
  })

  it('refuses another request with the same Idempotency-Key, before and after the job starts', async () => {
    const prepare = async () => job()
    const refused = () =>
      replays.start(request({ key: 'k', fingerprint: 'other' }), prepare).then(
        () => 'taken',
        (error: MonitorError) => error.code,
      )
    const first = replays.start(request({ key: 'k' }), prepare)
    expect(await refused()).to.equal('idempotency-key-reused')
    await ended((await first).id)
    expect(await refused()).to.equal('idempotency-key-reused')
    expect(sent).to.have.length(ids.length)
  })

  it('accepts an Idempotency-Key again if the first request with this key was refused', async () => {
    const refused = replays.start(request({ key: 'k', fingerprint: 'other' }), async () => {
      throw new Error('no such dead letter')
    })
    expect(await refused.catch((error: Error) => error.message)).to.equal('no such dead letter')
    await ended((await start({}, request({ key: 'k' }))).id)
    expect(sent).to.have.length(ids.length)
  })

  it('waits after a restart until the index contains all dead letters', async () => {
    isIndexed = false
    const { id } = await start({ entries: [{ id: 'entry-1', attempt }] })
    await delay(300)
    expect(sent).to.deep.equal([])
    isIndexed = true
    expect(await ended(id)).to.include({ replayed: 1, refused: 0 })
  })

  it('returns the position of the earlier replay if an entry was replayed before', async () => {
    outcomeOf = () => ({ result: 'done', as: 'orderevents/0/9' })
    const { id } = await start({ entries: [{ id: 'entry-1', attempt }] })
    const { done, outcomes } = await ended(id)
    const as = { topic: 'orderevents', partition: 0, offset: '9' }
    expect(done).to.equal(1)
    expect(outcomes).to.deep.equal([
      { entry: 'entry-1', result: 'done', as, why: ['already replayed as orderevents/0/9'] },
    ])
    expect(ledger.audit(100)).to.deep.equal([])
  })

  it('counts a replay as its own if the job was killed after it published the event and before it stored the outcome', async () => {
    ledger.begin([{ of: attempt, from: 9n }])
    outcomeOf = () => ({ result: 'done', as: 'orderevents/0/9' })
    const { id } = await start({ entries: [{ id: 'entry-1', attempt }] })
    expect(await ended(id)).to.include({ replayed: 1, done: 0 })
    expect(ledger.audit(100)).to.have.length(1)
    expect(ledger.begun(attempt)).to.equal(undefined)
  })

  it('counts a replay as an earlier one if the event was published before the job stored its intent', async () => {
    ledger.begin([{ of: attempt, from: 10n }])
    outcomeOf = () => ({ result: 'done', as: 'orderevents/0/9' })
    const { id } = await start({ entries: [{ id: 'entry-1', attempt }] })
    expect(await ended(id)).to.include({ replayed: 0, done: 1 })
  })

  it('keeps the first intent for a record until its replay is over, also after a restart', () => {
    ledger.begin([{ of: attempt, from: 9n }])
    ledger.begin([{ of: attempt, from: 12n }])
    ledger.close()
    ledger = createLedger(folder)
    expect(ledger.begun(attempt)).to.deep.equal({ of: attempt, from: 9n })
  })

  it('starts even if it is requested while the previous job ends', async () => {
    const one = { entries: [{ id: 'entry-1', attempt }] }
    for (let turns = 0; turns < 12; turns += 1) {
      const next = Promise.withResolvers<Job>()
      onReport = async ({ state }) => {
        if (state !== 'done') return
        onReport = () => {}
        for (let turn = 0; turn < turns; turn += 1) await undefined
        start(one).then(next.resolve, next.reject)
      }
      await start(one)
      const { id } = await next.promise
      const state = await Promise.race([ended(id).then((job) => job.state), delay(1_000, 'waits for ever')])
      expect(state, `${turns} turns after the end`).to.equal('done')
    }
  })

  it('stops on request', async () => {
    const { id } = await start({ perSecond: 5 })
    while (sent.length === 0) await delay(5)
    replays.stop(id)
    expect((await ended(id)).state).to.equal('stopped')
    expect(sent.length).to.be.below(ids.length)
  })

  it('deletes the edited event when the job ends, because this event contains personal values', async () => {
    const edited = Buffer.from('{"CustomerName":"Secretname"}').toString('base64')
    const { id } = await start({ entries: [{ id: 'entry-1', attempt }], edited })
    await ended(id)
    expect(ledger.find(id)?.edited).to.equal(null)
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)))
    expect(files.some((bytes) => bytes.includes(edited))).to.equal(false)
  })

  it('writes the entries of a job once, and deletes them when the job ends', async () => {
    const many = Array.from({ length: 5_000 }, (_, number) => ({ id: `entry-${number}`, attempt }))
    const { id } = await start({ entries: many, perSecond: 20 })
    while (sent.length < 4) await delay(5)
    const database = new DatabaseSync(join(folder, 'ledger.sqlite'), { readOnly: true })
    const sizes = () =>
      database
        .prepare('SELECT (SELECT length(body) FROM jobs) AS job, (SELECT length(entries) FROM chosen) AS entries')
        .get()
    try {
      expect(sizes()?.job).to.be.below(5_000)
      expect(sizes()?.entries).to.be.above(100_000)
      expect(ledger.running()[0]?.entries).to.deep.equal(many)
      replays.stop(id)
      await ended(id)
      expect(sizes()?.entries).to.equal(null)
    } finally {
      database.close()
    }
  })
})
