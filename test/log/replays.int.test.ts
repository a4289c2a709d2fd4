import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type {
  CheckResult,
  DeadLetterDetail,
  DeadLetterEntry,
  DeadLetterGroups,
  Job,
  Page,
  Problem,
} from '@orderflow/event-monitor/api'
import { type LogReader, openLog, positionText } from '@orderflow/kafka-log'
import { eventually, repository, testFolder } from '@orderflow/stack/base'
import { localKafka, type Plan, releaseFolder } from '@orderflow/stack/internals'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { startKafka } from '../support/kafka/own-kafka.ts'
import {
  type Client,
  type Position,
  publishDeadLetters,
  publishFailed,
  replaysIn,
} from '../support/replays/failed-events.ts'
import { MonitorProcess } from '../support/replays/monitor-process.ts'

describe('replays of dead letters on a real log', function () {
  this.timeout(240_000)
  let plan: Plan
  let producer: Client
  let log: LogReader
  let monitor: MonitorProcess

  before(async () => {
    plan = await startKafka('replays')
    const kafka = localKafka(plan.ports.kafka)
    producer = new Producer({ clientId: 'test', ...kafka })
    log = openLog(kafka)
    monitor = new MonitorProcess(plan)
    await monitor.start()
  })
  after(async () => {
    await monitor?.kill()
    await Promise.allSettled([log?.close(), producer?.close()])
    await releaseFolder(testFolder('replays'))
  })

  async function failed(count: number, appName: string): Promise<DeadLetterEntry[]> {
    const origins = new Set((await publishFailed(producer, count, appName)).map(positionText))
    return await eventually(async () => {
      const entries = (await allEntries()).filter(({ origin }) => origins.has(positionText(origin)))
      return entries.length === count ? entries : undefined
    }, `the monitor to list ${count} dead letters`)
  }

  async function allEntries(): Promise<DeadLetterEntry[]> {
    const entries: DeadLetterEntry[] = []
    for (let cursor = ''; ; ) {
      const page = await monitor.get<Page<DeadLetterEntry>>(`/v1/dead-letters/entries?limit=100${cursor}`)
      entries.push(...page.items)
      if (page.next === null) return entries
      cursor = `&cursor=${page.next}`
    }
  }

  async function start(body: object, headers: Record<string, string> = {}): Promise<Job> {
    const answer = await monitor.post<Job>('/v1/replays', body, headers)
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202)
    return answer.body
  }
  const ended = ({ id }: Job) =>
    eventually(
      async () => {
        const job = await monitor.get<Job>(`/v1/replays/${id}`).catch(() => undefined)
        return job?.state === 'running' ? undefined : job
      },
      `job ${id} to end`,
      60_000,
    )

  async function counts(entries: DeadLetterEntry[]): Promise<number[]> {
    const replays = await replaysIn(log)
    return entries.map(({ origin }) => replays.get(positionText(origin))?.length ?? 0)
  }
  const size = async () => Number((await log.spans('orderevents'))[0]?.end)
  const single = (entries: DeadLetterEntry[]) => entries.map(() => 1)

  it('publishes an event once if two requests replay it within 400 ms, and reports the position of the replay in the second job', async () => {
    const entries = await failed(20, 'pairs')
    const jobs: [Job, Job][] = []
    for (const [index, { id }] of entries.entries()) {
      const first = await start({ entries: [id] })
      await delay(index * 20)
      jobs.push([first, await start({ entries: [id] })])
    }
    const results = await Promise.all(jobs.map((pair) => Promise.all(pair.map(ended))))
    expect(await counts(entries)).to.deep.equal(single(entries))
    for (const [first, second] of results) {
      const as = first?.outcomes[0]?.as
      expect(first?.outcomes[0]?.result).to.equal('replayed')
      expect(second?.outcomes[0]).to.deep.include({ result: 'done', as })
      expect(second?.outcomes[0]?.why).to.deep.equal([`already replayed as ${as && positionText(as)}`])
    }
  })

  it('publishes an event once if its dead letter is replayed twice at the same time, alone and with its group', async () => {
    const entries = await failed(60, 'groups')
    const group = entries[0]?.group
    const some = entries.filter((_, index) => index % 6 === 0).map(({ id }) => id)
    const jobs = await Promise.all([start({ group, perSecond: 200 }), start({ entries: some }), start({ group })])
    await Promise.all(jobs.map(ended))
    expect(await counts(entries)).to.deep.equal(single(entries))
  })

  it('publishes an event once if the command line has replayed it and the index does not have the note yet', async () => {
    const entries = await failed(6, 'commands')
    for (const { id } of entries.slice(0, 3)) {
      await command('replay', id)
      const { outcomes } = await ended(await start({ entries: [id] }))
      expect(outcomes[0]?.result).to.equal('done')
    }
    for (const { id } of entries.slice(3)) {
      await ended(await start({ entries: [id] }))
      expect(await command('replay', id)).to.match(/already replayed as orderevents\/0\/\d+/)
    }
    expect(await counts(entries)).to.deep.equal(single(entries))
  })

  it('publishes an event once if two commands replay it at the same time', async () => {
    const entries = await failed(300, 'pairs-of-commands')
    const runs = await Promise.all([1, 2].map(() => run(['replay', 'handler-error/payment-service'])))
    for (const { code, stderr } of runs) expect(code, stderr).to.equal(0)
    expect((await counts(entries)).filter((count) => count !== 1)).to.deep.equal([])
  })

  it('lists a record with two dead letters of different services once, and publishes its event once for both', async () => {
    const positions = (await failed(3, 'both')).map(({ origin }) => origin)
    const failures = await Promise.all(
      positions.map(async (position) => ({ position, value: (await log.at(position))?.value ?? Buffer.alloc(0) })),
    )
    await publishDeadLetters(producer, failures, { app: 'order-service' })
    const positionTexts = positions.map(positionText)
    const own = async () => (await allEntries()).filter(({ origin }) => positionTexts.includes(positionText(origin)))
    const entries = await eventually(async () => {
      const listed = await own()
      return listed.every(({ services }) => services.length === 2) ? listed : undefined
    }, 'the monitor to name both services')
    expect(entries).to.have.length(3)
    const [one, ...others] = entries as [DeadLetterEntry, ...DeadLetterEntry[]]
    expect(one.services.map(({ app }) => app)).to.deep.equal(['order-service', 'payment-service'])
    const ids = one.services.map(({ id }) => id)
    const { groups } = await monitor.get<DeadLetterGroups>('/v1/dead-letters')
    expect(groups.find(({ id }) => id === one.group)).to.include({ entries: 3, open: 3 })
    for (const id of ids) {
      const detail = await monitor.get<DeadLetterDetail>(`/v1/dead-letters/entries/${id}`)
      expect([detail.entry.id, detail.refusals]).to.deep.equal([one.id, []])
      const { body } = await monitor.post<CheckResult>(`/v1/dead-letters/entries/${id}/check`, {})
      expect(body.isReady).to.equal(true)
    }

    const jobs = await Promise.all([start({ entries: ids }), ...ids.map((id) => start({ entries: [id] }))])
    expect(jobs.map(({ total }) => total)).to.deep.equal([1, 1, 1])
    const results = (await Promise.all(jobs.map(ended))).map((job) => [job?.replayed, job?.done, job?.refused])
    expect(results.sort()).to.deep.equal([
      [0, 1, 0],
      [0, 1, 0],
      [1, 0, 0],
    ])
    const stateOfOne = async () => (await own()).find(({ id }) => id === one.id)?.state
    await eventually(async () => (await stateOfOne()) === 'replayed' || undefined, 'the index to have the replay')
    const group = await start({ group: one.group })
    expect([group.total, (await ended(group)).replayed]).to.deep.equal([2, 2])
    expect(await counts([one, ...others])).to.deep.equal([1, 1, 1])
    await eventually(async () => (await own()).every(({ state }) => state === 'replayed') || undefined, 'all replayed')
    for (const id of ids) expect(await command('replay', id)).to.contain('already replayed')
    expect(await counts([one])).to.deep.equal([1])
  })

  it('publishes each event of a job once although the monitor is killed several times', async () => {
    const entries = await failed(600, 'kills')
    const first = await size()
    // The rate leaves enough events for the last kill, even if each kill comes a second late.
    const job = await start({ group: entries[0]?.group, perSecond: 100 })
    for (let kills = 1; kills <= 5; kills += 1) {
      // A kill in the middle of publishing is the hardest case.
      const before = await size()
      await eventually(async () => (await size()) > before + 10, 'some more to be published')
      expect(await size()).to.be.lessThan(first + 600)
      await monitor.kill()
      monitor.launch()
    }
    const { replayed, done, refused } = await ended(job)
    expect((await counts(entries)).filter((count) => count !== 1)).to.deep.equal([])
    expect({ replayed, done, refused }).to.deep.equal({ replayed: 600, done: 0, refused: 0 })
  })

  describe('replays with an edit', () => {
    const edited = { text: '{"AppName":"edited"}' }
    const conflicts = async (body: object) => {
      const { status, body: problem } = await monitor.post<Problem>('/v1/replays', body)
      return { status, detail: problem.detail ?? '' }
    }
    const detailOf = ({ id }: DeadLetterEntry) => monitor.get<DeadLetterDetail>(`/v1/dead-letters/entries/${id}`)
    async function edit(entry: DeadLetterEntry, total: number) {
      const { editable, attempt } = await detailOf(entry)
      return {
        entries: [entry.id],
        attempt,
        edited: { text: (editable ?? '').replace('"Total": 10', `"Total": ${total}`) },
      }
    }

    it('rejects the edit of a replayed event before the index has the note', async () => {
      for (const entry of await failed(5, 'edits')) {
        const body = await edit(entry, 11)
        const { outcomes } = await ended(await start({ entries: [entry.id] }))
        const { status, detail } = await conflicts(body)
        expect(status).to.equal(409)
        expect(detail).to.contain(`already replayed as ${positionText(outcomes[0]?.as as Position)}`)
      }
    })

    it('rejects the edit of an earlier attempt, and accepts an edit of the newest attempt', async () => {
      const [entry] = (await failed(1, 'attempts')) as [DeadLetterEntry]
      const stale = await edit(entry, 11)
      const { outcomes } = await ended(await start({ entries: [entry.id] }))
      const [replay] = (await replaysIn(log)).get(positionText(entry.origin)) as [Position]
      expect(outcomes[0]?.as).to.deep.equal(replay)
      const value = (await log.at(replay))?.value ?? Buffer.alloc(0)
      await publishDeadLetters(producer, [{ position: replay, origin: entry.origin, value }])
      await eventually(async () => (await detailOf(entry)).entry.attempts.length === 2, 'the second attempt')

      const { status, detail } = await conflicts(stale)
      expect(status).to.equal(409)
      expect(detail).to.contain(positionText(entry.origin)).and.to.contain(positionText(replay))
      expect((await conflicts({ entries: [entry.id], edited })).status).to.equal(400)
      expect(await counts([entry])).to.deep.equal([1])

      const { outcomes: again } = await ended(await start(await edit(entry, 12)))
      expect(again[0]?.result).to.equal('replayed')
      expect(await counts([entry])).to.deep.equal([2])
    })
  })

  describe('replays with an Idempotency-Key', () => {
    it('starts one job for equal bodies and answers 422 for another body, also after the job and after a restart', async () => {
      const [one, other] = (await failed(2, 'keys')) as [DeadLetterEntry, DeadLetterEntry]
      const headers = { 'Idempotency-Key': 'key-1' }
      const body = { group: one.group, perSecond: 20 }
      const same = await Promise.all(Array.from({ length: 5 }, () => start(body, headers)))
      const different = () => monitor.post<Problem>('/v1/replays', { entries: [other.id] }, headers)
      expect((await different()).status).to.equal(422)
      await ended(same[0] as Job)
      // All entries of the group are replayed now, so a request without the key gets 404.
      await eventually(async () => (await monitor.post('/v1/replays', body)).status === 404, 'the group to be done')
      same.push(await start(body, headers))
      await monitor.kill()
      await monitor.start()
      same.push(await start(body, headers))
      expect(new Set(same.map(({ id }) => id)).size).to.equal(1)
      const refusal = await different()
      expect([refusal.status, refusal.body.type]).to.deep.equal([422, 'urn:orderflow:problem:idempotency-key-reused'])
      expect(await counts([one, other])).to.deep.equal([1, 1])
    })

    it('starts only one job for two different bodies at the same time', async () => {
      const entries = await failed(2, 'races')
      const headers = { 'Idempotency-Key': 'key-2' }
      const answers = await Promise.all(
        entries.map(({ id }) => monitor.post<Job>('/v1/replays', { entries: [id] }, headers)),
      )
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([202, 422])
    })
  })

  describe('replays on the command line with an edit', () => {
    let files: string
    beforeEach(() => {
      files = mkdtempSync(join(tmpdir(), 'replays-'))
    })
    afterEach(() => rmSync(files, { recursive: true }))

    it('publishes nothing if the event was replayed while the editor was open, and keeps the edit', async () => {
      const [entry] = (await failed(1, 'editors')) as [DeadLetterEntry]
      const editor = join(files, 'editor')
      const replay = `"${process.execPath}" "${operate}" dead-letters replay ${entry.id} >&2`
      writeFileSync(editor, `#!/bin/sh\n${replay}\nsed -i.old 's/Grace/Ada/' "$1"\n`, { mode: 0o700 })
      const { code, stderr } = await run(['replay', entry.id, '--edit'], { EDITOR: editor, VISUAL: '', TMPDIR: files })
      expect(stderr).to.match(/was replayed as orderevents\/0\/\d+ while you edited it; your edit was not published/)
      expect(code).to.equal(1)
      const [kept = ''] = /\/\S+\/event\.json/.exec(stderr) ?? []
      expect(readFileSync(kept, 'utf8')).to.contain('Ada')
      expect(await counts([entry])).to.deep.equal([1])
    })

    it('accepts an edited file only for the attempt from which the file was made', async () => {
      const [entry] = (await failed(1, 'files')) as [DeadLetterEntry]
      const file = join(files, 'event.json')
      await run(['replay', entry.id])
      const [replay] = (await replaysIn(log)).get(positionText(entry.origin)) as [Position]
      const value = (await log.at(replay))?.value ?? Buffer.alloc(0)
      writeFileSync(file, value)
      await publishDeadLetters(producer, [{ position: replay, origin: entry.origin, value }])

      const unnamed = await run(['replay', entry.id, '--file', file])
      expect(unnamed.code).to.equal(1)
      expect(unnamed.stderr)
        .to.contain('has 2 attempts')
        .and.to.contain(`ATTEMPT=${positionText(replay)}`)
      const stale = await run(['replay', entry.id, '--file', file, '--attempt', positionText(entry.origin)])
      expect(stale.code).to.equal(1)
      expect(stale.stderr).to.contain(`no longer the newest attempt; the newest is ${positionText(replay)}`)
      expect(await counts([entry])).to.deep.equal([1])

      const newest = await run(['replay', entry.id, '--file', file, '--attempt', positionText(replay)])
      expect(newest.code, newest.stderr).to.equal(0)
      expect(await counts([entry])).to.deep.equal([2])
    })
  })

  const operate = join(repository, 'order-service/src/operate.ts')

  const command = async (...args: string[]) => (await run(args)).stdout

  async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
    const kafka = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr', Stream__Brokers: `127.0.0.1:${plan.ports.kafka}` }
    const child = spawn(process.execPath, [operate, 'dead-letters', ...args], {
      env: { ...process.env, ...kafka, ...env },
    })
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    return { stdout, stderr, code: code as number }
  }
})
