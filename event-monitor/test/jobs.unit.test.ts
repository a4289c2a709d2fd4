import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Entry } from '@orderflow/service-kit/log'
import { expect } from 'chai'
import type { Job } from '../src/api/dead-letters.ts'
import type { MonitorIndex } from '../src/index/monitor-index.ts'
import type { LogAccess } from '../src/jobs/kafka.ts'
import { createLedger, type Ledger } from '../src/jobs/ledger.ts'
import { createResends, type NewJob, type Resends } from '../src/jobs/resends.ts'

const ids = Array.from({ length: 12 }, (_, place) => `entry-${place}`)
const place = { topic: 'orderevents', partition: 0, offset: '1' }

describe('a job that resends dead letters', () => {
  let folder: string
  let ledger: Ledger
  let sent: string[]
  let told: Job[]
  let resends: Resends
  let made = 0

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'monitor-jobs-'))
    ledger = createLedger(folder)
    ;[sent, told] = [[], []]
    resends = open()
  })
  afterEach(async () => {
    await resends.close()
    ledger.close()
    rmSync(folder, { recursive: true })
  })

  function open(): Resends {
    const ask = async (_method: string, wanted: string[]) =>
      wanted
        .filter((id) => ids.includes(id))
        .map((id) => ({ entry: { id, app: 'a', origin: place, record: undefined, attempts: [] } as Entry }))
    const log: Pick<LogAccess, 'resend'> = {
      async *resend(entries) {
        for (const entry of entries) {
          sent.push(entry.id)
          yield entry.id === 'entry-3'
            ? { entry, result: 'refused', why: ['it is wrong still'] }
            : { entry, result: 'resent', as: 'orderevents/0/9' }
        }
      },
    }
    return createResends({
      index: { ask, truth: () => ({ indexLag: 0 }) } as unknown as MonitorIndex,
      ledger,
      log: log as LogAccess,
      trust: undefined as never,
      now: () => new Date(0),
      newId: () => `job-${++made}`,
      tell: (job) => told.push(structuredClone(job)),
    })
  }

  const job = (over: Partial<NewJob> = {}): NewJob => ({
    entries: ids,
    group: null,
    perSecond: 1_000,
    edited: null,
    by: 'ada',
    key: undefined,
    ...over,
  })

  async function ended(id: string): Promise<Job> {
    for (;;) {
      const found = ledger.find(id)?.job
      if (found && found.state !== 'running') return found
      await delay(5)
    }
  }

  it('resends each once, counts what came of it, and records who did it', async () => {
    const { id } = resends.start(job({ entries: [...ids, 'gone'] }))
    const { resent, refused, total, state, outcomes } = await ended(id)
    expect({ resent, refused, total, state }).to.deep.equal({ resent: 11, refused: 2, total: 13, state: 'done' })
    expect(sent).to.deep.equal(ids)
    expect(outcomes.find(({ entry }) => entry === 'entry-3')?.why).to.deep.equal(['it is wrong still'])
    expect(ledger.audit(100)).to.have.length(11)
    expect(ledger.audit(1)[0]).to.include({ by: 'ada', what: 'DeadLetterResent' })
    expect(told.at(-1)?.state).to.equal('done')
  })

  it('goes on after a restart with what is left', async () => {
    const { id } = resends.start(job({ perSecond: 10 }))
    while (sent.length < 4) await delay(5)
    await resends.close()
    const before = sent.length
    expect(ledger.find(id)?.job.state).to.equal('running')
    resends = open()
    resends.resume()
    await ended(id)
    expect(before).to.be.below(ids.length)
    expect(sent).to.deep.equal(ids)
  })

  it('is the same for the same key, of the same person', async () => {
    const [first, again, other] = [job({ key: 'k' }), job({ key: 'k' }), job({ key: 'k', by: 'bob' })].map((one) =>
      resends.start(one),
    )
    expect(first?.id).to.equal(again?.id).and.not.to.equal(other?.id)
    for (const { id } of [first, other] as Job[]) await ended(id)
    expect(sent).to.have.length(2 * ids.length)
  })

  it('stops when it is told to', async () => {
    const { id } = resends.start(job({ perSecond: 5 }))
    while (sent.length === 0) await delay(5)
    resends.stop(id)
    expect((await ended(id)).state).to.equal('stopped')
    expect(sent.length).to.be.below(ids.length)
  })

  it('forgets an edited event, which has personal values, as it ends', async () => {
    const edited = Buffer.from('{"CustomerName":"Secretname"}').toString('base64')
    const { id } = resends.start(job({ entries: ['entry-1'], edited }))
    await ended(id)
    expect(ledger.find(id)?.edited).to.equal(null)
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)))
    expect(files.some((bytes) => bytes.includes(edited))).to.equal(false)
  })
})
