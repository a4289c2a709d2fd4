import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Report } from '@orderflow/event-monitor/ingest-program'
import { createReads, HealthProbe, rulesOf, segmentsIn } from '@orderflow/event-monitor/testing'
import { withAdmin } from '@orderflow/kafka-log'
import { mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import type { StackPorts } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { localKafka, releaseFolder } from '@orderflow/stack/internals'
import { ConfigResourceTypes, IncrementalAlterConfigOperationTypes, Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { startKafka } from '../support/kafka/own-kafka.ts'

const program = fileURLToPath(import.meta.resolve('@orderflow/event-monitor/ingest-program'))
const orderCreated = (OrderId: string) => ({
  AppId: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e003',
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-01-01T00:00:00Z',
  Payload: { OrderId, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10 },
})
/** The fingerprint of the rules in the indexing program, which declares no reactions. */
const rules = rulesOf({ reactions: [], topics: [], services: {} }).fingerprint
const total = 30_000
const batch = 500

describe('the index of a real log', function () {
  this.timeout(240_000)
  let folder: string
  let ports: StackPorts
  let monitor: ChildProcess | undefined

  before(async () => {
    ports = (await startKafka('monitor')).ports
  })
  after(() => releaseFolder(testFolder('monitor')))
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'monitor-kill-'))
  })
  afterEach(async () => {
    monitor?.kill('SIGKILL')
    unmountBelow(folder)
    rmSync(folder, { recursive: true, force: true })
  })

  it('reports in the health view each topic setting that differs from the required setting', async () => {
    const kafka = localKafka(ports.kafka)
    const lines = async () => {
      const watched = { name: 'a-service', url: '', consumes: ['orderevents'], publishes: {}, dryRun: undefined }
      const lookout = new HealthProbe(kafka, [watched], () => new Date())
      return (await lookout.status().finally(() => lookout.close())).settings
    }
    const compress = (value: string) =>
      withAdmin(kafka, (admin) =>
        admin.incrementalAlterConfigs({
          resources: [
            {
              resourceType: ConfigResourceTypes.TOPIC,
              resourceName: 'orderevents',
              configs: [{ name: 'compression.type', configOperation: IncrementalAlterConfigOperationTypes.SET, value }],
            },
          ],
        }),
      )
    expect(await lines()).to.deep.equal([])
    await compress('gzip')
    try {
      await eventually(async () => (await lines()).length > 0, 'the setting')
      expect((await lines()).join()).to.match(
        /^topic orderevents: compression.type is gzip, should be uncompressed: .*\. Fix: \.\/orderflow topic-setting orderevents compression.type=uncompressed$/,
      )
    } finally {
      await compress('uncompressed')
    }
  })

  function start(): ChildProcess {
    monitor = fork(program, [ports.kafka.toString(), folder], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    return monitor
  }

  let published: Promise<void> | undefined
  /** Publishes the events that several tests read. Later calls publish nothing. */
  const publishAll = () => (published ??= publish('orderevents', total))

  async function publish(topic: string, count: number): Promise<void> {
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...localKafka(ports.kafka) })
    for (let at = 0; at < count; at += batch) {
      const messages = Array.from({ length: Math.min(batch, count - at) }, (_, step) => ({
        topic,
        key: Buffer.from(`key-${at + step}`),
        value: Buffer.from(JSON.stringify(orderCreated(randomUUID()))),
      }))
      await producer.send({ messages, acks: -1 })
    }
    await producer.close()
  }

  function positions(): string[] {
    const reads = createReads([])
    reads.follow([...segmentsIn(folder, 'events', rules), ...segmentsIn(folder, 'dead', rules)])
    const found: string[] = []
    for (let cursor: number | undefined; ; ) {
      const { items, next } = reads.events({ topic: ['orderevents'] }, 5_000, cursor)
      found.push(...items.map(({ position }) => `${position.partition}/${position.offset}`))
      if (next === null) break
      cursor = next
    }
    reads.close()
    return found
  }

  it('contains each event once although the monitor is killed several times while it reads', async () => {
    const publishing = publishAll()
    let kills = 0
    for (; kills < 6; kills += 1) {
      const running = start()
      // Kill the monitor later each time: at its start, during its first transaction, and during later transactions.
      await delay(900 + 250 * kills)
      await kill(running)
    }
    await publishing
    const last = start()
    await untilKept(last, total)
    await kill(last)
    const found = positions()
    expect(new Set(found).size).to.equal(total)
    expect(found).to.have.length(total)
  })

  it('reports a full disk while the monitor stays up, and becomes complete when there is space again', async () => {
    await publishAll()
    // An index of all events needs several times the space of this disk.
    const disk = await mountDisk(folder, '4m')
    const first = start()
    // All stored events stay readable. The program reads them before each report.
    const full = await until(
      first,
      ({ kept, total, error }) => total === kept && kept > 0 && error?.includes(folder) === true,
    )
    expect(full.error).to.contain(`no space left on the disk of ${folder}`)
    expect(full.kept).to.be.below(total)
    await kill(first)
    const second = start()
    await until(second, ({ error }) => error?.includes('no space left') === true)
    await disk.relieve()
    await untilKept(second, total)
    await kill(second)
    const found = positions()
    expect(new Set(found).size).to.equal(total)
    expect(found).to.have.length(total)
  })

  it('reports records that the log dropped before they were read', async () => {
    await publishAll()
    await withAdmin(localKafka(ports.kafka), async (admin) => {
      await admin.createTopics({ topics: ['cut'], partitions: 1, replicas: 1 })
    })
    await publish('cut', 100)
    const first = start()
    await untilKept(first, total + 100)
    await kill(first)
    await publish('cut', 100)
    await withAdmin(localKafka(ports.kafka), (admin) =>
      admin.deleteRecords({ topics: [{ name: 'cut', partitions: [{ partition: 0, offset: 150n }] }] }),
    )
    const second = start()
    await untilKept(second, total + 150)
    const reads = createReads([])
    reads.follow(segmentsIn(folder, 'events', rules))
    expect(reads.gaps().map(({ topic, from, to, why }) => [topic, from, to, why])).to.deep.equal([
      ['cut', '100', '150', 'truncated'],
    ])
    reads.close()
  })
})

/** @throws {Error} if the process has already exited */
async function kill(running: ChildProcess): Promise<void> {
  if (running.exitCode !== null) throw new Error(`the index exited with ${running.exitCode} before the test stopped it`)
  running.kill('SIGKILL')
  await once(running, 'exit')
}

/** @throws {Error} if the process exits before it has stored `count` events */
async function untilKept(running: ChildProcess, count: number): Promise<void> {
  await until(running, ({ kept }) => kept === count)
}

/**
 * Returns the first report that meets a condition.
 * @throws {Error} if the process exits earlier
 */
async function until(running: ChildProcess, holds: (report: Report) => boolean): Promise<Report> {
  for await (const [report] of on(running, 'message', { close: ['exit'] })) if (holds(report)) return report
  throw new Error(`the index exited with ${running.exitCode} before the expected report`)
}
