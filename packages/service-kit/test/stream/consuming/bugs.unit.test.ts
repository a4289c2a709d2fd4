import { randomUUID } from 'node:crypto'
import type { FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createDocuments } from '../../../src/state/documents.ts'
import { type Consumer, type ConsumerOptions, createConsumer } from '../../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'
import { createPublisher } from '../../../src/stream/publishing/publish.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { capturedLog } from '../../../src/testing/captured-log.ts'
import { scrape } from '../../../src/testing/scrape.ts'
import { virtualTime } from '../../support/virtual-time.ts'
import { consuming, entry, envelope } from './consuming.ts'

type Handle = (event: FullEvent<'OrderCreated'>) => Promise<unknown>

const topic = 'orderevents'
const broken = Object.assign(new Error('it breaks a rule'), { code: 'broken-rule' })

const down = () => new SidecarError('write state', new Error('down'))

/** Returns a delivery's entry with an order's event. `x` is an unknown field of its envelope. */
function orderEntry(offset: number, { total = 1, key, x }: { total?: number; key?: string; x?: unknown } = {}) {
  const Payload = { ...envelope.Payload, OrderId: randomUUID(), Total: total }
  const { value, metadata } = entry({ ...envelope, Payload, ...(x !== undefined && { x }) }, key)
  return { entryId: `e${offset}`, value, metadata: { ...metadata, __partition: '0', __offset: String(offset) } }
}

const orderEntries = (count: number, first = 0, fields = {}): BulkEntry[] =>
  Array.from({ length: count }, (_, index) => orderEntry(first + index, fields))

describe('unexpected errors', () => {
  const tested = consuming()
  const { options, reasons } = tested
  let records: Record<string, unknown>[]
  let metrics: ReturnType<typeof createMetrics>
  let time: number
  beforeEach(() => {
    metrics = createMetrics()
    time = Date.parse('2026-11-21T10:00:00Z')
  })

  function consumerOf(handle: Handle, over: Partial<ConsumerOptions> = {}): Consumer {
    const captured = capturedLog()
    records = captured.records
    const own = { log: captured.log, metrics, now: () => new Date(time), ...over }
    return createConsumer(topic, { OrderCreated: handle }, { ...options(), ...own })
  }
  const statuses = async (consumer: Consumer, ...entries: BulkEntry[]) =>
    (await consumer.deliver([entries])).map(({ status }) => status)

  const wide: Record<string, unknown> = {
    'a list of 130,000 numbers': Array(130_000).fill(1),
    'an object of 20,000 keys': Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 1])),
  }
  for (const [what, x] of Object.entries(wide)) {
    it(`a refused event with ${what} becomes a dead letter and causes no unexpected error`, async () => {
      const consumer = consumerOf(() => Promise.reject(broken))
      expect(await statuses(consumer, orderEntry(1, { x }))).to.deep.equal(['SUCCESS'])
      expect(reasons()).to.deep.equal(['broken-rule'])
    })
  }

  it('each event of a batch is handled again separately after a bug, and causes no dead letter if this succeeds', async () => {
    let running = 0
    const seen: number[] = []
    const consumer = consumerOf(async () => {
      running += 1
      seen.push(running)
      await new Promise(setImmediate)
      const isAlone = running === 1 && seen.length > 2
      running -= 1
      if (!isAlone) throw new TypeError('disturbed by another event')
    })
    expect(await statuses(consumer, orderEntry(1), orderEntry(2))).to.deep.equal(['SUCCESS', 'SUCCESS'])
    // Both events were handled at the same time, then each event alone.
    expect(seen).to.deep.equal([1, 2, 1, 1])
    expect(tested.sidecar.published).to.deep.equal([])
  })

  it('later events of a key wait until an event with a bug was handled again', async () => {
    const steps: string[] = []
    const of = (offset: number, key: string) => orderEntry(offset, { total: offset, key })
    const consumer = consumerOf(async ({ Payload: { Total } }) => {
      const isFirst = !steps.includes('bug')
      if (Total === 3) await new Promise(setImmediate)
      steps.push(Total === 1 && isFirst ? 'bug' : String(Total))
      if (steps.at(-1) === 'bug') throw new TypeError('a bug')
    })
    expect(await statuses(consumer, of(1, 'a'), of(2, 'a'), of(3, 'b'))).to.deep.equal(Array(3).fill('SUCCESS'))
    expect(steps).to.deep.equal(['bug', '3', '1', '2'])
  })

  it('an event becomes a dead letter after its handler failed twice with a bug, and the log has the stack', async () => {
    let calls = 0
    const consumer = consumerOf(() => {
      calls += 1
      throw new TypeError('no SECRET-TAX-ID here')
    })
    expect(await statuses(consumer, orderEntry(1))).to.deep.equal(['SUCCESS'])
    expect([calls, reasons()]).to.deep.equal([2, ['handler-error']])
    expect(records[0]).to.include({ msg: 'a bug: this service failed on a record', topic, offset: '1' })
    expect(records[0]).to.have.nested.property('err.stack').that.contains('bugs.unit.test.ts')
    expect(JSON.stringify([records, tested.sidecar.published.map(({ headers }) => headers)])).not.to.contain('SECRET')
  })

  it('an event becomes a dead letter with the reason internal-error after a bug in code before the handler', async () => {
    const requireTrusted = () => {
      throw new RangeError('Maximum call stack size exceeded')
    }
    const consumer = consumerOf(async () => {}, { trust: { asksForSignature: () => false, requireTrusted } })
    expect(await statuses(consumer, orderEntry(1))).to.deep.equal(['SUCCESS'])
    expect(reasons()).to.deep.equal(['internal-error'])
    expect(tested.sidecar.published[0]?.headers['deadletter-detail']).to.equal(
      'RangeError: Maximum call stack size exceeded',
    )
    expect(tested.sidecar.published[0]?.value).to.have.property('byteLength').above(100)
  })

  it('a bug that prevents a complete dead letter results in a dead letter with only the position', async () => {
    const publish: ConsumerOptions['publish'] = async (event) => {
      // Fails for each record with a value, so that only a dead letter without a value succeeds.
      if (event.value.byteLength > 0) throw new RangeError('Invalid array length')
      await createPublisher(tested.sidecar)(event)
    }
    const consumer = consumerOf(() => Promise.reject(broken), { publish })
    expect(await statuses(consumer, orderEntry(7))).to.deep.equal(['SUCCESS'])
    const [deadLetter] = tested.sidecar.published
    expect(deadLetter).to.include({ topic: 'orderevents.dead', key: undefined })
    expect(deadLetter?.headers).to.include({
      'deadletter-reason': 'internal-error',
      'deadletter-app': 'order-service',
      'deadletter-topic': topic,
      'deadletter-partition': '0',
      'deadletter-offset': '7',
      'deadletter-cut': 'unread',
    })
  })

  it('a bug while an entry is read does not affect other entries', async () => {
    const record = orderEntry(1)
    const unreadable = { ...record, metadata: { ...record.metadata, __key: 5 as unknown as string } }
    const seen: unknown[] = []
    const consumer = consumerOf(async (event) => seen.push(event))
    expect(await statuses(consumer, unreadable, orderEntry(2))).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect([seen.length, reasons()]).to.deep.equal([1, ['internal-error']])
  })

  it('an event is delivered again while Kafka refuses even the smallest dead letter', async () => {
    const refused = () => new SidecarError('publish', new Error('message was too large'), 'refused')
    const consumer = consumerOf(() => Promise.reject(broken))
    // Kafka refuses the complete and the minimal dead letter twice, and then the dead letter with the position only.
    tested.sidecar.failures.publish.push(...Array.from({ length: 5 }, refused))
    expect(await statuses(consumer, orderEntry(1))).to.deep.equal(['RETRY'])
    tested.sidecar.failures.publish.length = 0
    expect(await statuses(consumer, orderEntry(1))).to.deep.equal(['SUCCESS'])
    expect(reasons()).to.deep.equal(['broken-rule'])
  })

  describe('bugs in many events', () => {
    it('many bugs stop the topic after twenty dead letters, and readiness and a metric report the stop', async () => {
      const consumer = consumerOf(() => Promise.reject(new TypeError('a bad deployment')))
      const first = await statuses(consumer, ...orderEntries(100))
      expect(first.filter((status) => status === 'SUCCESS')).to.have.length(20)
      expect(await statuses(consumer, orderEntry(100))).to.deep.equal(['RETRY'])
      expect(reasons()).to.deep.equal(Array(20).fill('handler-error'))
      expect(consumer.stoppedBy()).to.match(/^orderevents is no longer consumed: 20 of its last 20 events met a bug/)
      const samples = await scrape(metrics.listener)
      expect(samples.get('orderflow_topic_stopped{topic="orderevents"}')).to.equal(1)
    })

    it('bugs do not stop the topic if they affect at most a twentieth of the events', async () => {
      let calls = 0
      const consumer = consumerOf(async ({ Payload }) => {
        calls += 1
        if (Payload.Total === 2) throw new TypeError('a rare bug')
      })
      for (let batch = 0; batch < 30; batch += 1) {
        await consumer.deliver([[...orderEntries(5, batch * 100, { total: 2 }), ...orderEntries(95, batch * 100 + 5)]])
      }
      expect(calls).to.equal(3_000 + 150)
      expect([reasons().length, consumer.stoppedBy()]).to.deep.equal([150, undefined])
    })

    it('only bugs among the last thousand events can stop the topic', async () => {
      let isBroken = true
      const consumer = consumerOf(async () => {
        if (isBroken) throw new TypeError('a passing bug')
      })
      await consumer.deliver([orderEntries(19)])
      isBroken = false
      for (let batch = 0; batch < 10; batch += 1) await consumer.deliver([orderEntries(100, 100 * batch)])
      isBroken = true
      await consumer.deliver([orderEntries(19)])
      expect(consumer.stoppedBy()).to.equal(undefined)
    })
  })

  describe('a handler that never ends', () => {
    const virtual = virtualTime()
    const passed = async (delivered: Promise<unknown>) => {
      let isEnded = false
      void delivered.finally(() => {
        isEnded = true
      })
      for (let seconds = 0; seconds < 60 && !isEnded; seconds += 1) await virtual.pass(1_000)
      return isEnded
    }

    it('becomes a dead letter after two attempts, the log names its record, and its key continues', async () => {
      const handled: number[] = []
      const consumer = consumerOf(async ({ Payload }) => {
        if (Payload.Total === 2) await new Promise(() => {})
        handled.push(Payload.Total)
      })
      const keyed = (offset: number, total: number, key: string) => orderEntry(offset, { total, key })
      const delivered = statuses(consumer, keyed(1, 2, 'a'), keyed(2, 3, 'a'), keyed(3, 4, 'b'))
      expect(await passed(delivered)).to.equal(true)
      expect(await delivered).to.deep.equal(['SUCCESS', 'SUCCESS', 'SUCCESS'])
      expect([handled, reasons()]).to.deep.equal([[4, 3], ['handler-error']])
      const detail = tested.sidecar.published[0]?.headers['deadletter-detail']
      expect(detail).to.match(/^HandlerTimeoutError: the handler did not end/)
      expect(records[0]).to.include({ msg: 'a bug: this service failed on a record', topic, offset: '1' })
    })

    it('fails each later call to the sidecar, so it writes and publishes nothing', async () => {
      const publish = createPublisher(tested.sidecar)
      const documents = createDocuments(tested.sidecar, () => new Date(time))('')
      const ends: (() => void)[] = []
      const late: unknown[] = []
      const consumer = consumerOf(
        async () => {
          await new Promise<void>((resolve) => ends.push(resolve))
          const key = 'a'
          const calls = [
            publish({ topic: 'out', key, value: Buffer.from('{}'), headers: {} }),
            documents.change({ key, bytes: 10, decide: (view) => view.write('late') }),
            documents.read([key]),
          ]
          late.push(...(await Promise.allSettled(calls)).map(({ status }) => status))
        },
        { publish },
      )
      const delivered = statuses(consumer, orderEntry(1))
      expect(await passed(delivered)).to.equal(true)
      for (const end of ends) end()
      await virtual.pass(1_000)
      expect(late).to.deep.equal(Array(6).fill('rejected'))
      expect(tested.sidecar.published.map((event) => event.topic)).to.deep.equal(['orderevents.dead'])
      expect(tested.sidecar.documents.size).to.equal(0)
    })

    it('continues while it waits for the sidecar in an outage of minutes', async () => {
      const documents = createDocuments(tested.sidecar, () => new Date(time))('')
      tested.sidecar.read = () => new Promise((_, reject) => setTimeout(() => reject(down()), 180_000))
      const consumer = consumerOf(() => documents.read(['a']))
      const delivered = statuses(consumer, orderEntry(1))
      for (let seconds = 0; seconds < 181; seconds += 1) await virtual.pass(1_000)
      expect(await delivered).to.deep.equal(['RETRY'])
      expect([tested.sidecar.published, consumer.stoppedBy()]).to.deep.equal([[], undefined])
    })
  })

  describe('outages, unlike bugs', () => {
    it('an event is delivered again without limit during an outage, and its record is reported after ten deliveries', async () => {
      const consumer = consumerOf(() => Promise.reject(down()))
      for (let delivery = 1; delivery <= 30; delivery += 1) {
        expect(await statuses(consumer, orderEntry(3), orderEntry(4))).to.deep.equal(['RETRY', 'RETRY'])
        const expected = delivery > 10 ? [{ topic, partition: 0, offset: '3', deliveries: delivery }] : []
        expect(consumer.redelivered()).to.deep.equal(expected)
      }
      const samples = await scrape(metrics.listener)
      expect(samples.get('orderflow_record_deliveries{topic="orderevents"}')).to.equal(30)
      const named = records.filter(
        ({ msg }) => msg === 'this record is delivered repeatedly, because the platform fails; see /readyz',
      )
      expect(named.map(({ offset }) => offset)).to.deep.equal(['3', '4'])
      expect([tested.sidecar.published, consumer.stoppedBy()]).to.deep.equal([[], undefined])
    })

    it('a record is no longer reported after it was handled', async () => {
      let isDown = true
      const consumer = consumerOf(() => (isDown ? Promise.reject(down()) : Promise.resolve()))
      for (let delivery = 1; delivery <= 11; delivery += 1) await consumer.deliver([[orderEntry(3)]])
      expect(consumer.redelivered()).to.have.length(1)
      isDown = false
      await consumer.deliver([[orderEntry(3)]])
      expect(consumer.redelivered()).to.deep.equal([])
    })

    it('a record is forgotten when its last delivery was a minute ago', async () => {
      const consumer = consumerOf(() => Promise.reject(down()))
      for (let delivery = 1; delivery <= 11; delivery += 1) await consumer.deliver([[orderEntry(3)]])
      time += 59_000
      expect(consumer.redelivered()).to.have.length(1)
      time += 2_000
      expect(consumer.redelivered()).to.deep.equal([])
    })
  })
})
