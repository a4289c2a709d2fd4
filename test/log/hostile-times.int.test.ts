import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { LiveBatch } from '@orderflow/event-monitor/api'
import { createLiveViews, type MonitorIndex, openIndex } from '@orderflow/event-monitor/testing'
import { type LogRecord, openLog, withAdmin } from '@orderflow/kafka-log'
import { service } from '@orderflow/order-service/service'
import { readSettings, readTrust } from '@orderflow/service-kit'
import {
  entryLines,
  entryTable,
  groupLines,
  newestAttempt,
  readDeadLetters,
  readEvent,
  rebuildTopic,
} from '@orderflow/service-kit/operations'
import { eventually, testFolder } from '@orderflow/stack/base'
import { localKafka, releaseFolder } from '@orderflow/stack/internals'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { startKafka } from '../support/kafka/own-kafka.ts'

/** The topic with CreateTime; dead-letter topics have the same setting. */
const topic = 'createtime'
/** Kafka refuses only times in the future by default, so the topic also permits these. */
const configs = [
  { name: 'message.timestamp.type', value: 'CreateTime' },
  { name: 'message.timestamp.after.max.ms', value: String(2n ** 63n - 1n) },
]
const timestamps = [-(2n ** 62n), -8_640_000_000_000_001n, -1n, 0n, 8_640_000_000_000_001n, 2n ** 62n]
const trustSettings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }).Trust

const deadLetter = (offset: number) => ({
  'deadletter-app': 'order-service',
  'deadletter-reason': 'not-json',
  'deadletter-topic': topic,
  'deadletter-partition': '0',
  'deadletter-offset': String(offset),
})

describe('records with hostile times in a real log', function () {
  this.timeout(120_000)
  let folder: string
  let kafka: ReturnType<typeof localKafka>
  let index: MonitorIndex | undefined
  let failures: Error[]

  before(async () => {
    kafka = localKafka((await startKafka('hostile-times')).ports.kafka)
    await withAdmin(kafka, async (admin) => {
      await admin.createTopics({ topics: [topic, `${topic}.dead`], partitions: 1, replicas: 1, configs })
    })
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafka })
    for (const [offset, timestamp] of timestamps.entries()) {
      const headers = Object.entries(deadLetter(offset)).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])
      const messages = [
        { topic, value: Buffer.from('{'), timestamp },
        { topic: `${topic}.dead`, value: Buffer.from('{'), timestamp, headers: new Map(headers as [Buffer, Buffer][]) },
      ]
      await producer.send({ messages, acks: -1 })
    }
    await producer.close()
  })
  after(() => releaseFolder(testFolder('hostile-times')))
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hostile-times-'))
    failures = []
  })
  afterEach(async () => {
    await index?.close()
    index = undefined
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(): Promise<MonitorIndex> {
    index = openIndex(
      {
        ...{ kafka, folder, trust: trustSettings, root: service.root.href },
        application: { reactions: [], topics: [], services: {} },
        ...{ segmentEvents: 1_000, keepEvents: 10_000, keepMs: 86_400_000 },
      },
      { onFailure: (error) => failures.push(error), onTrouble() {}, onPartition() {} },
    )
    await index.start()
    return index
  }

  async function requireAll(monitor: MonitorIndex): Promise<void> {
    await eventually(async () => monitor.completeness().kept === 2 * timestamps.length, 'an index of all records')
    const { total } = await monitor.ask('events', { from: '1970-01-01T00:00:00Z' }, 100)
    expect(total).to.equal(2 * timestamps.length)
    expect((await monitor.ask('deadLetterGroups')).groups[0]?.entries).to.equal(timestamps.length)
    expect(monitor.completeness()).to.include({
      oldestKept: '1970-01-01T00:00:00.000Z',
      newest: '9999-12-31T23:59:59.999Z',
      indexLag: 0,
    })
    expect([monitor.state().error, ...failures]).to.deep.equal([null])
  }

  it('shows all of them in the index and in an open live view', async () => {
    const monitor = await open()
    const views = createLiveViews(monitor, () => new Date())
    const batches: LiveBatch[] = []
    views.open({}, (event, data) => event !== 'batch' || batches.push(data as LiveBatch) > 0)
    try {
      await requireAll(monitor)
      const sum = () => batches.reduce((total, { received }) => total + received, 0)
      while (sum() < 2 * timestamps.length) await delay(20)
    } finally {
      views.stop()
    }
  })

  it('the monitor indexes them again if an earlier version has stored their times', async () => {
    await requireAll(await open())
    await index?.close()
    for (const file of readdirSync(folder).filter((name) => /^(events|dead)-.*sqlite$/.test(name))) {
      const database = new DatabaseSync(join(folder, file))
      database.exec('PRAGMA user_version = 5; UPDATE events SET at = -4611686018427387904')
      database.exec('UPDATE kinds SET first = -4611686018427387904')
      database.close()
    }
    await requireAll(await open())
  })

  it('commands list and show them as dead letters, and a rebuild skips them', async () => {
    const log = openLog(kafka)
    try {
      const deadLetters = await readDeadLetters(log)
      expect(deadLetters.entries).to.have.length(timestamps.length)
      expect([...groupLines(deadLetters), ...entryTable(deadLetters.entries)].join()).to.contain('not-json')
      for (const entry of deadLetters.entries) {
        const event = await readEvent(log, newestAttempt(entry))
        expect(entryLines(entry, event, false).join()).to.contain('1 bytes that are not JSON')
      }
      const counts = await rebuildTopic(
        topic,
        {},
        {
          ...{ app: 'order-service', trust: readTrust(service.root, trustSettings), refusals: new Set<string>() },
          ...{ log, range: {}, onProgress() {}, onWait() {} },
        },
      )
      expect(counts).to.deep.include({ read: timestamps.length, aside: { 'not-json': timestamps.length } })
    } finally {
      await log.close()
    }
  })

  it('readers report positions outside of the log as missing', async () => {
    const log = openLog(kafka)
    const at = async (partition: number, offset: bigint): Promise<LogRecord | undefined | false> => {
      const position = { topic, partition, offset: String(offset) }
      return (await log.has(position)) && (await log.at(position))
    }
    try {
      expect(await at(0, 2n ** 63n - 1n)).to.equal(undefined)
      expect(await at(999_999_999, 0n)).to.equal(false)
      expect(await at(-1, 0n)).to.equal(false)
      const [span] = await log.spans(topic, { from: new Date(-1) })
      expect(span?.start, 'a time before 1970 selects the records with a time').to.equal(3n)
      expect((await at(0, 0n)) || undefined).to.include({ offset: 0n })
    } finally {
      await log.close()
    }
  })
})
