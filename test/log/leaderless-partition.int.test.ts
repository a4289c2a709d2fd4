import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Report } from '@orderflow/event-monitor/ingest-program'
import { HealthProbe } from '@orderflow/event-monitor/testing'
import { requestAt, withAdmin } from '@orderflow/kafka-log'
import type { KafkaConnection } from '@orderflow/stack'
import { testFolder } from '@orderflow/stack/base'
import { releaseFolder } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { logWriter, startOpenBroker } from '../support/kafka/open-broker.ts'
import { claimPlan } from '../support/kafka/own-kafka.ts'
import { type SecondBroker, secondBroker } from '../support/kafka/second-broker.ts'

const event = () =>
  JSON.stringify({
    AppId: randomUUID(),
    AppName: 'older-application',
    Version: 1,
    Name: 'StockCounted',
    CreationDate: '2026-01-01T00:00:00Z',
    Payload: {},
  })

describe('the monitor while one partition has no leader', function () {
  this.timeout(120_000)
  const indexes: string[] = []
  const monitors: ChildProcess[] = []
  let kafka: KafkaConnection
  let second: SecondBroker
  let writer: ReturnType<typeof logWriter>
  let monitor: ChildProcess

  before(async () => {
    const plan = await claimPlan('leaderless')
    kafka = await startOpenBroker(plan)
    writer = logWriter(kafka)
    // The first commit of an offset creates the topic of consumer groups. Only the first broker runs now, so it gets all of this topic’s partitions.
    await writer.commit('payment-service', 'orderevents', 0, 0n)
    second = await secondBroker(plan, kafka)
    await second.start()
    const assignments = [1, second.id].map((broker, partition) => ({ partition, brokers: [broker] }))
    await withAdmin(kafka, (admin) => admin.createTopics({ topics: ['stock'], assignments }))
    await writer.publish('stock', 0, event())
    await writer.publish('stock', 1, event())
    monitor = startMonitor()
    await reported(monitor, ({ kept }) => kept === 2)
  })
  after(async () => {
    for (const each of monitors) each.kill('SIGKILL')
    for (const index of indexes) rmSync(index, { recursive: true, force: true })
    await second?.kill()
    await releaseFolder(testFolder('leaderless'))
  })

  function startMonitor(): ChildProcess {
    const index = mkdtempSync(join(tmpdir(), 'monitor-leaderless-'))
    indexes.push(index)
    const program = fileURLToPath(import.meta.resolve('@orderflow/event-monitor/ingest-program'))
    const port = new URL(`http://${kafka.bootstrapBrokers[0]}`).port
    const started = fork(program, [port, index], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    monitors.push(started)
    return started
  }

  async function reported(process: ChildProcess, fits: (report: Report) => boolean): Promise<Report> {
    for await (const [report] of on(process, 'message', { close: ['exit'] })) if (fits(report)) return report
    throw new Error('the monitor exited before the expected report')
  }

  /** Publishes to the first broker. The client’s producer refuses a topic that has a partition without a leader. */
  const publishToFirst = (value: string) =>
    withAdmin(kafka, async (admin) => {
      const { brokers } = await admin.metadata({ topics: [], forceUpdate: true })
      const [, first] = [...brokers].find(([id]) => id === 1) as [number, { host: string; port: number }]
      const message = { topic: 'stock', partition: 0, key: Buffer.from('key'), value: Buffer.from(value) }
      await requestAt(admin, first, 'Produce', () => [-1, 5_000, [message], {}])
    })

  it('indexes all other partitions, names the partition without a leader, and reads this partition again when it has a leader', async () => {
    await second.kill()
    await writer.publish('orderevents', 0, event())
    await publishToFirst(event())
    const without = await reported(monitor, ({ kept }) => kept === 4)
    expect(without).to.include({ isConnected: true, error: null })
    // The monitor may first find that the previous leader does not answer.
    const hasNoLeader = ({ unreadable: [one] }: Report) => one?.why.startsWith('it has no leader') ?? false
    const { unreadable } = await reported(monitor, hasNoLeader)
    expect(unreadable).to.deep.equal([
      { topic: 'stock', partition: 1, why: 'it has no leader: start broker 2, which has its records' },
    ])

    const later = startMonitor()
    const fresh = await reported(later, (report) => report.kept === 3 && hasNoLeader(report))
    expect(fresh.unreadable).to.deep.equal(unreadable)

    const watched = {
      name: 'payment-service',
      url: 'http://127.0.0.1:1',
      consumes: ['orderevents', 'stock'],
      publishes: {},
      dryRun: undefined,
    }
    const lookout = new HealthProbe(kafka, [watched], () => new Date())
    const { kafka: seen, topics, groups } = await lookout.status()
    await lookout.close()
    expect(seen).to.include({ isUp: true, error: null })
    expect(topics.find(({ topic }) => topic === 'stock')).to.deep.include({
      partitions: 2,
      oldestOffset: ['0', null],
      endOffset: ['2', null],
    })
    const positions = groups.map(({ topic, partition }) => `${topic}/${partition}`)
    expect(positions).to.include('orderevents/0').and.to.include('stock/0').and.not.to.include('stock/1')

    await second.start()
    await writer.publish('stock', 1, event())
    for (const each of [monitor, later]) {
      const whole = await reported(each, ({ kept, unreadable }) => kept === 5 && unreadable.length === 0)
      expect(whole).to.deep.include({ isConnected: true, gaps: [], indexLag: 0 })
    }
  })
})
