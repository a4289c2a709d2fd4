import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MonitorIndex, openIndex } from '@orderflow/event-monitor/testing'
import { openLog } from '@orderflow/kafka-log'
import { service } from '@orderflow/order-service/service'
import { readSettings } from '@orderflow/service-kit'
import { groupLines, readDeadLetters } from '@orderflow/service-kit/operations'
import { eventually, testFolder } from '@orderflow/stack/base'
import { localKafka, releaseFolder } from '@orderflow/stack/internals'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { startKafka } from '../support/kafka/own-kafka.ts'

const failed = 30_000
const services = ['order-service', 'payment-service'] as const
const topic = 'orderevents'
const trust = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }).Trust

interface Message {
  topic: string
  value: Buffer
  headers?: Map<Buffer, Buffer>
}

const headersOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const))

const deadLetter = (offset: number, app: string): Message => ({
  topic: `${topic}.dead`,
  value: Buffer.from('{'),
  headers: headersOf({
    'deadletter-app': app,
    'deadletter-reason': 'not-json',
    'deadletter-topic': topic,
    'deadletter-partition': '0',
    'deadletter-offset': String(offset),
  }),
})
const note = (offset: number): Message => ({
  topic: `${topic}.dead`,
  value: Buffer.alloc(0),
  headers: headersOf({ 'replay-of': `${topic}/0/${offset}`, 'replayed-as': `${topic}/0/${1_000_000 + offset}` }),
})

describe('60,000 dead letters in a real log', function () {
  this.timeout(240_000)
  let folder: string
  let kafka: ReturnType<typeof localKafka>
  let index: MonitorIndex | undefined
  let producer: Producer<Buffer, Buffer, Buffer, Buffer>

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'many-dead-letters-'))
    kafka = localKafka((await startKafka('many-dead-letters')).ports.kafka)
    producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafka })
    await send(Array.from({ length: 5_000 }, () => ({ topic, value: Buffer.from('{}') })))
    await send(Array.from({ length: failed }, (_, offset) => services.map((app) => deadLetter(offset, app))).flat())
  })
  after(async () => {
    await index?.close()
    await producer.close()
    rmSync(folder, { recursive: true, force: true })
    await releaseFolder(testFolder('many-dead-letters'))
  })

  async function send(all: Message[]): Promise<void> {
    for (let at = 0; at < all.length; at += 500) await producer.send({ messages: all.slice(at, at + 500), acks: -1 })
  }

  it('the monitor lists all of them, even if its index keeps fewer events', async () => {
    index = openIndex(
      {
        ...{ kafka, folder, trust, root: service.root.href },
        application: { reactions: [], topics: [], services: {} },
        ...{ segmentEvents: 1_000, keepEvents: 2_000, keepMs: 86_400_000 },
      },
      {
        onFailure(error) {
          throw error
        },
        onTrouble() {},
        onPartition() {},
      },
    )
    await index.start()
    const { ask, completeness } = index
    await eventually(async () => completeness().indexLag === 0, 'the whole index')
    await eventually(
      async () => (await ask('deadLetterPage', undefined, 'open', 1)).total === failed,
      'all dead letters',
    )
    expect((await ask('deadLetterGroups')).groups.map(({ entries, open }) => [entries, open])).to.deep.equal([
      [failed, failed],
    ])
  })

  it('the pages of open ones are complete while others arrive and are replayed', async () => {
    const { ask } = index as MonitorIndex
    const replayed: number[] = []
    const seen: number[] = []
    for (let cursor: number | undefined; ; ) {
      const { items, next } = await ask('deadLetterPage', undefined, 'open', 100, cursor)
      seen.push(...items.map(({ origin }) => Number(origin.offset)))
      if (next === null) break
      cursor = next
      if (seen.length % 1_000 > 0) continue
      const now = [seen.length - 500, failed - seen.length - 50].filter((offset) => offset >= 0)
      replayed.push(...now)
      await send([...now.map(note), deadLetter(2 * failed + seen.length, 'order-service')])
    }
    expect(new Set(seen).size).to.equal(seen.length)
    const shown = new Set(seen)
    const missing = Array.from({ length: failed }, (_, offset) => offset).filter((offset) => !shown.has(offset))
    expect(missing.filter((offset) => !replayed.includes(offset))).to.deep.equal([])
  })

  it('the command for dead letters lists all of them', async () => {
    const log = openLog(kafka)
    try {
      const deadLetters = await readDeadLetters(log)
      const apps = Map.groupBy(deadLetters.entries, ({ app }) => app)
      expect(apps.get('payment-service')).to.have.length(failed)
      expect(groupLines(deadLetters).join()).to.match(/not-json\/payment-service +30000 /)
    } finally {
      await log.close()
    }
  })
})
