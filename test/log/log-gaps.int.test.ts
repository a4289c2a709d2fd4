import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readBacklog } from '@orderflow/chaos/backlog'
import { openBook } from '@orderflow/chaos/ledger/book'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { HealthProbe } from '@orderflow/event-monitor/testing'
import { openLog } from '@orderflow/kafka-log'
import { rebuildTopic } from '@orderflow/service-kit/operations'
import { scrape } from '@orderflow/service-kit/testing'
import type { KafkaConnection } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import { releaseFolder, streamMetrics } from '@orderflow/stack/internals'
import { openLog as openOutsideLog } from '@orderflow/test-kit'
import { expect } from 'chai'
import { logWriter, startOpenBroker } from '../support/kafka/open-broker.ts'
import { claimPlan } from '../support/kafka/own-kafka.ts'

const group = 'payment-service'
const topic = 'orderevents'
const event = () =>
  JSON.stringify({
    AppId: randomUUID(),
    AppName: 'older-application',
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: '2026-01-01T00:00:00Z',
    Payload: { OrderId: randomUUID(), CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10 },
  })

describe('a log with offsets that hold no record', function () {
  this.timeout(60_000)
  let kafka: KafkaConnection
  let writer: ReturnType<typeof logWriter>

  before(async () => {
    kafka = await startOpenBroker(await claimPlan('log-gaps'))
    writer = logWriter(kafka)
    // Partition 0 ends with the marker of a commit, and partition 1 with that of an abort. Partition 2 is truncated.
    await writer.transact('commit', topic, 0, event(), event())
    await writer.transact('abort', topic, 1, event())
    await writer.publish(topic, 2, event(), event())
    for (const each of ['order-service', group]) {
      await writer.commit(each, topic, 0, 2n)
      await writer.commit(each, topic, 1, 1n)
      await writer.commit(each, topic, 2, 1n)
    }
    await writer.deleteBelow(topic, 2, 2n)
  })
  after(() => releaseFolder(testFolder('log-gaps')))

  it('causes no lag for a group that has handled all records', async () => {
    const samples = await scrape(streamMetrics(kafka))
    expect(samples.get('orderflow_kafka_up')).to.equal(1)
    for (const partition of [0, 1, 2]) {
      const labels = `group="${group}",topic="${topic}",partition="${partition}"`
      expect(samples.get(`orderflow_consumer_lag_events{${labels}}`), labels).to.equal(0)
    }
    expect(samples.get(`orderflow_oldest_unhandled_seconds{group="${group}",topic="${topic}"}`)).to.equal(0)
  })

  it('causes no lag in the monitor', async () => {
    const watched = { name: group, url: 'http://127.0.0.1:1', consumes: [topic], publishes: {}, dryRun: undefined }
    const lookout = new HealthProbe(kafka, [watched], () => new Date())
    const { groups } = await lookout.status()
    await lookout.close()
    expect(groups.map(({ partition, lag }) => [partition, lag])).to.deep.equal([
      [0, 0],
      [1, 0],
      [2, 0],
    ])
  })

  it('causes no backlog for programs that wait for the services', async () => {
    expect((await readBacklog(kafka)).behind).to.equal(0)
  })

  it('lets a rebuild read to the end, with correct counts', async () => {
    const log = openLog(kafka)
    const told: string[] = []
    const counts = await rebuildTopic(
      topic,
      { OrderCreated: async () => true },
      {
        app: group,
        trust: { requireGenuine: () => {} },
        refusals: new Set(),
        log,
        range: {},
        onProgress: (_topic, { read }, left) => told.push(`${read} read, at most ${left} to go`),
        onWait: () => {},
      },
    )
    await log.close()
    expect(counts).to.deep.include({ read: 3, applied: 3 })
    expect(told[0]).to.equal('0 read, at most 5 to go')
  })

  it('lets the chaos test’s ledger and an outside client read to the end', async () => {
    const book = openBook({})
    await readLog(kafka, book)
    expect(book.query('SELECT * FROM event')).to.have.length(3)
    book.close()
    const log = await openOutsideLog(kafka, [topic])
    await log.caughtUp()
    expect(log.records).to.have.length(3)
    await log.close()
  })

  it('shows the lag and the age of a record that is published after a marker', async () => {
    const publishedAt = Date.now()
    await writer.publish(topic, 0, event())
    await delay(1_200)
    const samples = await scrape(streamMetrics(kafka))
    expect(samples.get(`orderflow_consumer_lag_events{group="${group}",topic="${topic}",partition="0"}`)).to.equal(1)
    const age = samples.get(`orderflow_oldest_unhandled_seconds{group="${group}",topic="${topic}"}`)
    // The age must be that of the record, and not that of the older marker before it.
    expect(age).to.be.within(1.1, (Date.now() - publishedAt) / 1_000)
  })

  describe('a log with gaps in the monitor', () => {
    let index: string
    let monitor: ChildProcess
    before(() => {
      index = mkdtempSync(join(tmpdir(), 'monitor-gaps-'))
    })
    after(async () => {
      monitor.kill('SIGKILL')
      await once(monitor, 'exit')
      rmSync(index, { recursive: true, force: true })
    })

    it('appears in the index completely, and the monitor reports no gaps', async () => {
      const program = fileURLToPath(import.meta.resolve('@orderflow/event-monitor/ingest-program'))
      monitor = fork(program, [new URL(`http://${kafka.bootstrapBrokers[0]}`).port, index], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      for await (const [report] of on(monitor, 'message', { close: ['exit'] })) {
        if (report.kept < 4 || report.indexLag !== 0) continue
        expect(report).to.deep.include({ kept: 4, indexLag: 0, gaps: [], isConnected: true })
        return
      }
      throw new Error('the index exited before the expected report')
    })
  })
})
