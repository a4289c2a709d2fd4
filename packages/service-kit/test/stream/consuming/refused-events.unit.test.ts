import { randomUUID } from 'node:crypto'
import type { Envelope } from '@orderflow/envelope'
import { createRecordsBatch } from '@platformatic/kafka'
import { expect } from 'chai'
import { type OutgoingEvent, SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createConsumer } from '../../../src/stream/consuming/consumer.ts'
import { createPublish, createPublisher } from '../../../src/stream/publishing/publish.ts'
import { batchBytes, type TopicLimit } from '../../../src/stream/publishing/topic-limit.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { capturedLog } from '../../../src/testing/captured-log.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { openTrust } from '../../support/open-trust.ts'

const own = {
  ...{ Id: randomUUID(), CorrelationId: randomUUID(), TraceId: randomUUID(), AppId: randomUUID(), AppName: 'a' },
  ...{ Version: 1, Name: 'PaymentApproved', CreationDate: '2026-11-21T10:00:00Z' },
}
const cause = {
  ...{ AppId: randomUUID(), AppName: 'older-application', Version: 1, Name: 'OrderCreated' },
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: { OrderId: randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 },
}

describe('a reaction whose own event Kafka refuses', () => {
  let sidecar: FakeSidecar
  beforeEach(() => {
    sidecar = new FakeSidecar()
  })

  /** Delivers an event whose reaction publishes an own event of this size. Returns the status, the dead letters, and the log. */
  async function react(characters: number, limitOf: TopicLimit) {
    const { log, records } = capturedLog()
    const publishRecord = createPublisher(sidecar, undefined, limitOf)
    const publish = createPublish(publishRecord, { sign: () => undefined }, undefined)
    const envelope = { ...own, Payload: { Note: 'x'.repeat(characters) } } as unknown as Envelope
    const consumer = createConsumer(
      'orderevents',
      { OrderCreated: () => publish('paymentevents', envelope) },
      {
        ...{ app: 'a-service', publish: publishRecord, trust: openTrust, refusals: new Set<string>(), log },
        appendTimes: async () => new Map(),
        metrics: createMetrics(),
        now: () => new Date(),
      },
    )
    const metadata = { __partition: '2', __offset: '7' }
    const [answer] = await consumer.deliver([[{ entryId: '1', value: Buffer.from(JSON.stringify(cause)), metadata }]])
    const deadLetters = sidecar.published.filter(({ topic }) => topic === 'orderevents.dead')
    return { status: answer?.status, deadLetters: deadLetters.map(({ headers }) => headers), records }
  }
  /** Makes the sidecar fail for large records as Dapr does, which hides Kafka's reason. */
  function refuseAbove(bytes: number, topic = 'paymentevents'): void {
    const publish = sidecar.publish.bind(sidecar)
    sidecar.publish = async (to, events) => {
      if (to === topic && events.some((event) => batchBytes(event) > bytes))
        throw new SidecarError('publish', new Error('kafka: Failed to deliver 1 messages.'))
      await publish(to, events)
    }
  }

  for (const [what, limitOf, characters] of [
    ['the limit that its topic should have, without a question to Kafka', async () => undefined, 262_144],
    ['a smaller limit that its topic has', async () => 2_000, 3_000],
  ] as const) {
    it(`becomes a dead letter that names the event if the event exceeds ${what}`, async () => {
      refuseAbove((await limitOf()) ?? 262_144)
      const { status, deadLetters, records } = await react(characters, limitOf)
      expect(status).to.equal('SUCCESS')
      expect(deadLetters.map((headers) => headers['deadletter-reason'])).to.deep.equal(['handler-error'])
      expect(deadLetters[0]).to.include({ 'deadletter-partition': '2', 'deadletter-offset': '7' })
      expect(deadLetters[0]?.['deadletter-detail']).to.match(
        new RegExp(`PaymentApproved@1 with the Id ${own.Id} on paymentevents.* bytes, and max.message.bytes is`),
      )
      expect(records[0]).to.include({ msg: 'a bug: this service failed on a record', partition: 2, offset: '7' })
    })
  }

  it('gets RETRY if Kafka does not report the limit, as in an outage', async () => {
    refuseAbove(2_000)
    expect(await react(3_000, async () => undefined)).to.deep.include({ status: 'RETRY', deadLetters: [] })
  })

  it('gets RETRY if the topic accepts the size, so the failure has another reason', async () => {
    refuseAbove(0)
    expect(await react(10, async () => 2_000)).to.deep.include({ status: 'RETRY', deadLetters: [] })
  })

  it('reports a dead letter that exceeds the limit of its topic as refused', async () => {
    refuseAbove(3_000, 'orderevents.dead')
    const publish = createPublisher(sidecar, undefined, async () => 3_000)
    const error = await publish({ topic: 'orderevents.dead', key: 'k', value: Buffer.alloc(3_000), headers: {} }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(SidecarError).and.to.include({ failure: 'refused' })
  })
})

describe('batchBytes', () => {
  it('returns the exact size of the batch that Kafka gets, with the headers that the sidecar adds', () => {
    for (const bytes of [0, 1, 62, 63, 64, 120, 8_000, 8_191, 8_192, 130_000, 262_100]) {
      for (const key of [undefined, 'k', 'ü'.repeat(70)]) {
        const event: OutgoingEvent = {
          topic: 't',
          key,
          value: Buffer.alloc(bytes),
          headers: { a: 'ü', signature: 's'.repeat(43) },
        }
        const headers = { ...event.headers, rawPayload: 'true', ...(key !== undefined && { partitionKey: key }) }
        const all = new Map(
          Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const),
        )
        const message = {
          topic: 't',
          value: event.value,
          headers: all,
          timestamp: 1n,
          ...(key !== undefined && { key: Buffer.from(key) }),
        }
        const batch = createRecordsBatch([message as never], {})
        expect(batchBytes(event), `${bytes} ${key}`).to.equal(batch.length)
      }
    }
  })
})
