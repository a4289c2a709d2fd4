import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FullEvent } from '@orderflow/envelope-schema'
import { service as monitorService } from '@orderflow/event-monitor/service'
import { type LogRecord, openLog, withAdmin } from '@orderflow/kafka-log'
import { service as orderService } from '@orderflow/order-service/service'
import {
  type App,
  type Consumer,
  createApp,
  createConsumers,
  createLog,
  readSettings,
  readTrust,
} from '@orderflow/service-kit'
import {
  createMetrics,
  type Entry,
  openAttempt,
  readDeadLetters,
  replayDeadLetters,
} from '@orderflow/service-kit/operations'
import { FakeSidecar, send, withServer } from '@orderflow/service-kit/testing'
import { eventually, withRetries } from '@orderflow/stack/base'
import { localKafka, releaseFolder } from '@orderflow/stack/internals'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { startKafka } from '../support/kafka/own-kafka.ts'

const [topic, deadTopic] = ['orderevents', 'orderevents.dead']
const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
const settings = readSettings(orderService, tokens)
const trust = readTrust(orderService.root, settings.Trust)

const reduced = (Total: unknown = 10) =>
  JSON.stringify({
    AppId: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e003',
    AppName: 'older-application',
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: '2026-01-01T00:00:00Z',
    Payload: { OrderId: randomUUID(), CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total },
  })

type Ids = Pick<FullEvent<'OrderCreated'>, 'Id' | 'CorrelationId' | 'TraceId'>

/** A real Kafka and the consumer of a service. */
class Cluster {
  readonly folder: string
  readonly kafka: ReturnType<typeof localKafka>
  readonly port: number
  readonly log: ReturnType<typeof openLog>
  readonly producer: Producer<Buffer, Buffer, Buffer, Buffer>
  handled: Ids[] = []
  hasBug = false
  readonly #consume: Consumer

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
    this.kafka = localKafka(port)
    this.log = openLog(this.kafka)
    this.producer = new Producer({ clientId: 'test', ...this.kafka })
    const handlers = {
      OrderCreated: async ({ Id, CorrelationId, TraceId }: FullEvent<'OrderCreated'>) => {
        if (this.hasBug) throw new TypeError('a bug')
        this.handled.push({ Id, CorrelationId, TraceId })
      },
    }
    const consumers = createConsumers(
      { [topic]: handlers },
      {
        app: 'order-service',
        publish: (event) => this.append(event),
        trust,
        appendTimes: async () => new Map(),
        refusals: new Set(),
        log: createLog('test', 'silent'),
        metrics: createMetrics(),
        now: () => new Date(),
      },
    )
    this.#consume = consumers[topic] as Consumer
  }

  static async start(name: string): Promise<Cluster> {
    const { folder, ports } = await startKafka(name)
    const cluster = new Cluster(folder, ports.kafka)
    // The stack’s own topics have another number of partitions than these tests need.
    await cluster.#delete(topic, deadTopic)
    return cluster
  }

  async stop(): Promise<void> {
    await Promise.allSettled([this.log.close(), this.producer.close()])
    await releaseFolder(this.folder)
  }

  async create(name: string, timestamps: 'LogAppendTime' | 'CreateTime' = 'LogAppendTime'): Promise<void> {
    const configs = [{ name: 'message.timestamp.type', value: timestamps }]
    await withAdmin(this.kafka, async (admin) => {
      await admin.createTopics({ topics: [name], partitions: 1, replicas: 1, configs })
    })
    await eventually(async () => await this.log.has({ topic: name, partition: 0, offset: '0' }), 'the topic')
  }

  async createAgain(): Promise<void> {
    await this.#delete(topic)
    await this.create(topic)
  }

  async #delete(...topics: string[]): Promise<void> {
    await withAdmin(this.kafka, (admin) => admin.deleteTopics({ topics }))
    await eventually(async () => {
      const left = await this.log.topics()
      return !topics.some((name) => left.includes(name))
    }, 'the deletion')
  }

  async publish(...values: string[]): Promise<bigint> {
    const messages = values.map((value) => ({
      topic,
      partition: 0,
      key: Buffer.from('k\xff', 'latin1'),
      value: Buffer.from(value),
    }))
    // The broker refuses records while a new topic has no leader.
    const { offsets } = await withRetries(
      `publishing to ${topic}`,
      () => this.producer.send({ messages, acks: -1 }),
      50,
    )
    return offsets?.[0]?.offset as bigint
  }

  async append({ topic: to, key, value, headers }: FakeSidecar['published'][number]): Promise<void> {
    const bytes = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const)
    const record = { topic: to, value: Buffer.from(value), headers: new Map(bytes) }
    await this.producer.send({ messages: [{ ...record, ...(key && { key: Buffer.from(key) }) }], acks: -1 })
  }

  async records(of: string): Promise<LogRecord[]> {
    const found: LogRecord[] = []
    for await (const some of this.log.read(of, await this.log.spans(of))) found.push(...some)
    return found
  }

  async consume(from = 0n): Promise<void> {
    const records = (await this.records(topic)).filter(({ offset }) => offset >= from)
    await this.#consume.deliver([records.map(entryOf)])
  }

  async entries(): Promise<Entry[]> {
    return (await readDeadLetters(this.log)).entries
  }

  async replay(entries: Entry[]): Promise<string[]> {
    const results: string[] = []
    for await (const { result } of replayDeadLetters(this.kafka, entries, { trust })) results.push(result)
    return results
  }
}

/** Converts a record as Dapr’s Kafka component does with `escapeHeaders`. */
function entryOf({ partition, offset, timestamp, key, value, headers }: LogRecord) {
  const escaped = (bytes: Buffer) =>
    [...bytes].map((byte) => (/\w/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : hex(byte))).join('')
  return {
    entryId: String(offset),
    value,
    metadata: {
      ...Object.fromEntries(headers.map(([name, text]) => [name.toString(), escaped(text)])),
      __partition: String(partition),
      __offset: String(offset),
      __timestamp: String(timestamp),
      ...(key && { __key: escaped(key) }),
    },
  }
}
const hex = (byte: number) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

const storyOf = (entry: Entry) => [
  openAttempt(entry) ? 'open' : 'replayed',
  entry.attempts.map(({ reason }) => reason).join(),
]

interface ListedEntry {
  id: string
  state: string
  reason: string
  attempts: { reason: string }[]
}

describe('the identity of records', function () {
  this.timeout(240_000)
  let cluster: Cluster
  before(async () => {
    cluster = await Cluster.start('identity')
  })
  after(() => cluster?.stop())

  describe('a topic that was deleted and created again', () => {
    const folder = mkdtempSync(join(tmpdir(), 'identity-'))
    let monitor: App
    before(async () => {
      await cluster.create(topic)
      await cluster.create(deadTopic, 'CreateTime')
      const env = { ...tokens, Stream__Brokers: `127.0.0.1:${cluster.port}`, Monitor__Folder: folder }
      monitor = createApp(monitorService, {
        settings: readSettings(monitorService, env),
        log: createLog('test', 'silent'),
        now: () => new Date(),
        newId: randomUUID,
        sidecar: new FakeSidecar(),
      })
      await monitor.backgrounds[0]?.start()
    })
    after(async () => {
      await monitor?.backgrounds[0]?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    /** Waits until the entries of the monitor’s API have this number of dead letters, and returns the entries. */
    const listed = (deadLetters: number) =>
      withServer(monitor.web, (url) =>
        eventually(async () => {
          const { body } = await send<{ items: ListedEntry[] }>(`${url}/v1/dead-letters/entries?limit=100`)
          const count = body.items.reduce((sum, { attempts }) => sum + attempts.length, 0)
          return count === deadLetters ? body.items.reverse() : undefined
        }, 'the entries of the monitor'),
      )
    /** Returns the time of an entry's event. Waits for this event, because the monitor may read its dead letter first. */
    const detailOf = (id: string) =>
      withServer(monitor.web, (url) =>
        eventually(async () => {
          const { body } = await send<{ event: { row: { at: string } } }>(`${url}/v1/dead-letters/entries/${id}`)
          return body.event?.row.at
        }, 'the event of the entry'),
      )

    it('opens a new entry for a bad event at the position of a replayed event, and keeps the reason of the old entry', async () => {
      const bad = reduced('10')
      await cluster.publish(bad)
      await cluster.consume()
      expect(await cluster.replay(await cluster.entries())).to.deep.equal(['refused'])
      const first = await cluster.entries()
      // A replay with an edit is enough here, because this test is about the note that the replay writes.
      for await (const { result } of replayDeadLetters(cluster.kafka, first, {
        trust,
        edited: Buffer.from(reduced()),
      })) {
        expect(result).to.equal('replayed')
      }
      await listed(1)
      const [old] = await cluster.records(topic)
      await cluster.createAgain()
      await cluster.publish('{')
      const [recent] = await cluster.records(topic)
      await cluster.consume()

      const entries = await cluster.entries()
      expect(entries.map(storyOf)).to.deep.equal([
        ['replayed', 'invalid-payload'],
        ['open', 'not-json'],
      ])
      expect(entries.map(({ origin }) => origin.offset)).to.deep.equal(['0', '0'])
      const items = await listed(2)
      expect(items.map(({ id, state, reason }) => [id, state, reason])).to.deep.equal([
        [entries[0]?.id, 'replayed', 'invalid-payload'],
        [entries[1]?.id, 'open', 'not-json'],
      ])
      expect(await detailOf(items[0]?.id ?? '')).to.equal(new Date(old?.timestamp ?? 0).toISOString())
      expect(await detailOf(items[1]?.id ?? '')).to.equal(new Date(recent?.timestamp ?? 0).toISOString())
    })

    it('opens a new entry for the same bytes at the same position', async () => {
      await cluster.createAgain()
      await cluster.publish('{')
      await cluster.consume()
      const entries = await cluster.entries()
      expect(entries.map(storyOf).slice(1)).to.deep.equal([
        ['open', 'not-json'],
        ['open', 'not-json'],
      ])
      expect((await listed(3)).map(({ id }) => id)).to.deep.equal(entries.map(({ id }) => id))
    })
  })

  describe('two identical reduced envelopes of one batch', () => {
    it('become one event, or one dead letter that one replay resolves', async () => {
      await cluster.createAgain()
      const known = (await cluster.entries()).length
      const [good, bad] = [reduced(), reduced('10')]
      await cluster.publish(good, good, bad, bad)
      cluster.handled = []
      await cluster.consume()
      expect(cluster.handled.map(({ Id }) => Id)).to.have.lengthOf(2)
      expect(new Set(cluster.handled.map(({ Id }) => Id)).size).to.equal(1)
      const entries = (await cluster.entries()).slice(known)
      expect(entries.map(storyOf)).to.deep.equal([['open', 'invalid-payload']])
      for await (const _ of replayDeadLetters(cluster.kafka, entries, { trust, edited: Buffer.from(good) }));
      expect((await cluster.entries()).slice(known).map(storyOf)).to.deep.equal([['replayed', 'invalid-payload']])
    })
  })

  describe('a record that a process rejected, and that another process of the service accepts', () => {
    it('gets an acceptance, and is no longer listed', async () => {
      await cluster.createAgain()
      const known = (await cluster.entries()).length
      await cluster.publish(reduced())
      cluster.hasBug = true
      await cluster.consume()
      cluster.hasBug = false
      expect((await cluster.entries()).slice(known).map(storyOf)).to.deep.equal([['open', 'handler-error']])

      const sidecar = new FakeSidecar()
      const { channel } = createApp(orderService, {
        settings: readSettings(orderService, { ...tokens, Stream__Brokers: `127.0.0.1:${cluster.port}` }),
        log: createLog('test', 'silent'),
        now: () => new Date(),
        newId: randomUUID,
        sidecar,
      })
      const entries = (await cluster.records(topic)).map(entryOf).map(({ value, ...entry }) => {
        return { ...entry, event: value.toString('base64'), contentType: 'application/json' }
      })
      await withServer(channel, async (url) => {
        const response = await fetch(`${url}/subscriptions/${topic}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'dapr-api-token': tokens.APP_API_TOKEN },
          body: JSON.stringify({ entries }),
        })
        expect(await response.json()).to.deep.equal({ statuses: [{ entryId: '0', status: 'SUCCESS' }] })
      })
      expect(sidecar.published.map(({ headers }) => headers['accepted-position'])).to.deep.equal([`${topic}/0/0`])
      for (const event of sidecar.published) await cluster.append(event)
      expect(await cluster.entries()).to.have.length(known)
    })
  })

  describe('a mirrored cluster', () => {
    let mirror: Cluster
    before(async () => {
      mirror = await Cluster.start('identity-mirror')
      await mirror.create(deadTopic, 'CreateTime')
    })
    after(() => mirror?.stop())

    /** Copies a topic as MirrorMaker 2 does: it appends value, key, headers and time of each record. */
    async function copy(name: string): Promise<void> {
      const messages = (await cluster.records(name)).map(({ key, value, headers, timestamp }) => ({
        ...{ topic: name, partition: 0, value, headers: new Map(headers), timestamp: BigInt(timestamp) },
        ...(key && { key }),
      }))
      await mirror.producer.send({ messages, acks: -1 })
    }

    for (const timestamps of ['CreateTime', 'LogAppendTime'] as const) {
      it(`gives events the same ids in a target topic with ${timestamps}, although their positions differ there`, async () => {
        await cluster.createAgain()
        for (const total of [10, 11, 12]) await cluster.publish(reduced(total))
        cluster.handled = []
        await cluster.consume()
        if ((await mirror.log.topics()).includes(topic)) {
          await withAdmin(mirror.kafka, (admin) => admin.deleteTopics({ topics: [topic] }))
          await eventually(async () => !(await mirror.log.topics()).includes(topic), 'the deletion')
        }
        await mirror.create(topic, timestamps)
        await mirror.publish(reduced(1))
        await copy(topic)
        mirror.handled = []
        await mirror.consume(1n)
        expect(mirror.handled).to.deep.equal(cluster.handled)
      })
    }

    it('keeps the entry of a copied record that fails again if the target topic keeps the record’s time', async () => {
      await cluster.createAgain()
      await cluster.publish('{"mirrored":')
      await cluster.consume()
      await withAdmin(mirror.kafka, (admin) => admin.deleteTopics({ topics: [topic] }))
      await eventually(async () => !(await mirror.log.topics()).includes(topic), 'the deletion')
      await mirror.create(topic, 'CreateTime')
      await mirror.publish(reduced())
      await copy(topic)
      await copy(deadTopic)
      const before = await mirror.entries()
      expect(before.map(({ id }) => id)).to.deep.equal((await cluster.entries()).map(({ id }) => id))
      await mirror.consume(1n)
      expect(await mirror.entries()).to.have.lengthOf(before.length)
    })
  })
})
