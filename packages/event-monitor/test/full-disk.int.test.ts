import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { HttpProblem } from '@orderflow/service-kit'
import type { Entry } from '@orderflow/service-kit/log'
import { type Disk, mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import type { Job } from '../src/api/dead-letters.ts'
import type { MonitorIndex } from '../src/index/monitor-index.ts'
import { createLedger, type Ledger } from '../src/jobs/ledger.ts'
import type { LogAccess } from '../src/jobs/log-access.ts'
import { createReplays, type Replays } from '../src/jobs/replays.ts'

const ids = Array.from({ length: 12 }, (_, number) => `entry-${number}`)
const position = { topic: 'orderevents', partition: 0, offset: '1' }

describe('a replay job on a full disk', function () {
  this.timeout(20_000)
  let folder: string
  let disk: Disk
  let ledger: Ledger
  let sent: string[]
  let reports: Job[]
  let replays: Replays

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'full-disk-'))
    disk = await mountDisk(folder)
    ;[sent, reports] = [[], []]
    open()
  })
  afterEach(async () => {
    await replays.close()
    ledger.close()
    unmountBelow(folder)
    rmSync(folder, { recursive: true })
  })

  function open(): void {
    ledger = createLedger(folder)
    const ask = async (_method: string, wanted: string[]) => ({
      entries: wanted.map((id) => ({
        entry: { id, app: 'a', origin: position, attempts: [{ position }] } as unknown as Entry,
      })),
      readUpTo: new Map(),
    })
    const log: Pick<LogAccess, 'replay'> = {
      async *replay(entries) {
        for (const entry of entries) {
          if (sent.includes(entry.id)) yield { entry, result: 'done', as: 'orderevents/0/9' }
          else {
            sent.push(entry.id)
            yield { entry, result: 'replayed', as: 'orderevents/0/9' }
          }
        }
      },
    }
    replays = createReplays({
      index: { ask, completeness: () => ({ indexLag: 0 }) } as unknown as MonitorIndex,
      ledger,
      log: log as LogAccess,
      trust: undefined as never,
      now: () => new Date(0),
      newId: () => 'job',
      report: (job) => reports.push(structuredClone(job)),
    })
  }

  const start = () =>
    replays.start({ by: 'ada', key: undefined, fingerprint: 'f' }, async () => ({
      entries: ids.map((id) => ({ id, attempt: 'orderevents/0/1' })),
      group: null,
      perSecond: 20,
      edited: null,
    }))

  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await delay(5)
  }

  const outcome = () => ({ sent, audited: ledger.audit(100).length, state: ledger.find('job')?.job.state })
  const whole = { sent: ids, audited: ids.length, state: 'done' }

  it('waits, reports the reason, and continues without a restart when there is space again', async () => {
    await start()
    await until(() => sent.length > 2)
    await disk.fill()
    await until(() => reports.at(-1)?.error?.includes('no space left') === true)
    expect(reports.at(-1)?.state).to.equal('running')
    expect(sent).to.have.length.below(ids.length)
    await disk.relieve()
    await until(() => reports.at(-1)?.state === 'done')
    expect(reports.at(-1)?.error).to.equal(null)
    expect(outcome()).to.deep.equal(whole)
  })

  it('refuses a new request with 503, and replays nothing', async () => {
    ledger.jobs(1)
    await disk.fill()
    const refused = await start().catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(HttpProblem).with.property('status', 503)
    expect((refused as HttpProblem).message).to.contain('no space left')
    await delay(300)
    expect({ sent, reports }).to.deep.equal({ sent: [], reports: [] })
    await disk.relieve()
    await start()
    await until(() => reports.at(-1)?.state === 'done')
    expect(outcome()).to.deep.equal(whole)
  })

  it('continues after a restart of the monitor when there is space again', async () => {
    await start()
    await until(() => sent.length > 2)
    await disk.fill()
    await until(() => reports.at(-1)?.error !== null)
    await replays.close()
    ledger.close()
    open()
    replays.resume()
    await delay(300)
    await disk.relieve()
    await until(() => reports.at(-1)?.state === 'done')
    // The audit log may lack the last replays before the restart, because the full disk could not store them.
    expect({ sent, state: ledger.find('job')?.job.state }).to.deep.equal({ sent: ids, state: 'done' })
  })
})
