import { randomUUID } from 'node:crypto'
import {
  completeEnvelope,
  createEnvelope,
  type Envelope,
  EnvelopeError,
  type FullEvent,
  type ReceivedEnvelope,
} from '@orderflow/envelope'
import { positionText } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { pino } from 'pino'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createConsumer, createConsumers } from '../../../src/stream/consuming/consumer.ts'
import { deadLetterOf } from '../../../src/stream/dead-letters/dead-letter.ts'
import { type BulkEntry, readDelivery } from '../../../src/stream/log/record.ts'
import type { AppendTimes } from '../../../src/stream/log/shared-admin.ts'
import { createPublisher, recordOf } from '../../../src/stream/publishing/publish.ts'
import { createMask } from '../../../src/telemetry/mask.ts'
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { scrape } from '../../../src/testing/scrape.ts'
import { createSigner, createTrust } from '../../../src/trust/trust.ts'
import { openInspector } from '../../support/open-inspector.ts'
import { openTrust } from '../../support/open-trust.ts'
import { virtualTime } from '../../support/virtual-time.ts'

const orderId = randomUUID()
const envelope = {
  AppId: randomUUID(),
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: { OrderId: orderId, CustomerName: 'Ada', CustomerTaxId: 'SECRET-TAX-ID', Total: 1 },
}

let offset = 0
const start = 1_795_000_000_000
/** Returns an entry with a unique time of arrival. */
function timedEntry(value: object | string): BulkEntry {
  const timed = entry(value)
  timed.metadata.__timestamp = String(start + offset)
  return timed
}
function entry(value: object | string | null, key?: string): BulkEntry {
  offset += 1
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const metadata = { __partition: '2', __offset: String(offset), ...(key !== undefined && { __key: key }) }
  return { entryId: `e${offset}`, value: Buffer.from(value === null ? '' : text), metadata }
}

describe('createConsumer', () => {
  const time = virtualTime()
  let sidecar: FakeSidecar
  let handled: FullEvent<'OrderCreated'>[]
  let logged: string[]
  let handle: (event: FullEvent<'OrderCreated'>) => Promise<unknown>
  let appendTimes: AppendTimes
  beforeEach(() => {
    appendTimes = async () => new Map()

    offset = 0
    sidecar = new FakeSidecar()
    handled = []
    logged = []
    handle = async (event) => {
      handled.push(event)
    }
  })

  const handlers = { OrderCreated: (event: FullEvent<'OrderCreated'>) => handle(event) }
  const options = () => ({
    app: 'order-service',
    refusals: new Set(['broken-rule']),
    publish: createPublisher(sidecar),
    trust: openTrust,
    appendTimes,
    // This log does not mask its lines, so the tests show which data the consumer itself leaves out.
    log: Object.assign(pino({ level: 'debug' }, { write: (line: string) => logged.push(line) }), {
      mask: createMask(),
    }),
    metrics: createMetrics(),
    now: () => new Date('2026-11-21T10:00:00Z'),
  })
  async function consume(...entries: BulkEntry[]) {
    const consumer = createConsumer('orderevents', handlers, options())
    return (await consumer.deliver([entries])).map(({ status }) => status)
  }
  const lines = () => logged.map((line) => JSON.parse(line))

  it('returns one consumer for each topic, which publishes to that topic’s dead-letter topic', async () => {
    const consumers = createConsumers({ orderevents: handlers, paymentevents: {} }, options())
    expect(Object.keys(consumers)).to.deep.equal(['orderevents', 'paymentevents'])
    expect(await consumers.orderevents?.deliver([[entry(envelope)]])).to.deep.equal([
      { entryId: 'e1', status: 'SUCCESS' },
    ])
    expect(handled).to.have.lengthOf(1)
    await consumers.paymentevents?.deliver([[entry('{')]])
    expect(sidecar.published.map(({ topic }) => topic)).to.deep.equal(['paymentevents.dead'])
  })

  it('passes all events of a batch to the handler in order, and derives the ids of an envelope without ids', async () => {
    expect(await consume(entry(envelope), entry(envelope, 'k'))).to.deep.equal(['SUCCESS', 'SUCCESS'])
    const [first, second] = handled
    expect(first?.Id).to.match(/^[0-9a-f-]{36}$/)
    expect(first?.CorrelationId).to.equal(first?.TraceId)
    expect(second?.Id).not.to.equal(first?.Id)
    await consume(entry(envelope))
    expect(handled[2]?.Id).to.equal(first?.Id)
  })

  it('derives missing ids from the record’s value and key as the contract states, even from a binary key', async () => {
    for (const [escaped, key] of [
      [undefined, undefined],
      ['a+b%2Fc', Buffer.from('a b/c')],
      ['%00%FF%25%2B+', Buffer.from([0x00, 0xff, 0x25, 0x2b, 0x20])],
    ] as const) {
      await consume(entry(envelope, escaped))
      const { Id, TraceId } = completeEnvelope({} as ReceivedEnvelope, {
        value: Buffer.from(JSON.stringify(envelope)),
        key,
      })
      expect([handled.at(-1)?.Id, handled.at(-1)?.TraceId]).to.deep.equal([Id, TraceId])
    }
  })

  describe('for an untrusted event', () => {
    const own = randomUUID()
    const signer = createSigner(['k'.repeat(32)])
    const trust = createTrust({
      publishers: { outside: {}, services: { [own]: { name: 'shop', publishes: { orderevents: ['OrderCreated'] } } } },
      file: { unlisted: 'accept', publishers: {} },
      signer,
      signedSince: Date.parse('2026-11-21T09:00:00Z'),
    })
    const ours = { ...envelope, AppId: own.toUpperCase(), AppName: 'shop' }
    async function consumeTrusted(...entries: BulkEntry[]) {
      await createConsumer('orderevents', handlers, { ...options(), trust }).deliver([entries])
      return sidecar.published.map(({ headers }) => headers['deadletter-reason'])
    }
    const withHeaders = (record: BulkEntry, headers: Record<string, string>) => {
      Object.assign(record.metadata, headers)
      return record
    }
    const signatureOf = ({ value }: BulkEntry) => signer.sign(value) ?? ''
    const signed = (record: BulkEntry) => withHeaders(record, { signature: signatureOf(record) })

    it('makes a dead letter with the reason, and does not call the handler', async () => {
      expect(await consumeTrusted(entry(envelope))).to.deep.equal(['untrusted'])
      const [deadLetter] = sidecar.published
      expect(deadLetter?.headers['deadletter-detail']).to.equal('only shop publishes to orderevents')
      expect(handled).to.deep.equal([])
      expect(lines()[0]).to.include({ reason: 'untrusted' })
    })

    const moment = Date.parse('2026-11-21T08:59:59Z')
    const dated = (record: BulkEntry) => withHeaders(record, { __timestamp: String(moment) })
    /** Answers as Kafka does for a topic where the broker sets the time. */
    const appendedAsDated: AppendTimes = async (positions) =>
      new Map(positions.map((position) => [positionText(position), moment]))

    it('requires a signature if only the publisher’s own date is before the start of signing', async () => {
      expect(await consumeTrusted(dated(entry(ours)), dated(signed(entry(ours))))).to.deep.equal(['untrusted'])
      expect(handled).to.have.length(1)
    })

    it('asks Kafka who set a record’s time only if this time is before the start of signing', async () => {
      const asked: string[] = []
      appendTimes = async (positions) => {
        for (const position of positions) asked.push(positionText(position))
        return appendedAsDated(positions)
      }
      await consumeTrusted(signed(entry(ours)), entry(ours))
      expect(asked).to.deep.equal([])
      await consumeTrusted(dated(entry(ours)), entry(ours), dated(entry(ours)))
      expect(asked).to.deep.equal(['orderevents/2/3', 'orderevents/2/5'])
    })

    it('returns RETRY if Kafka cannot report who set the times', async () => {
      appendTimes = async () => {
        throw new Error('connect ECONNREFUSED')
      }
      const consumer = createConsumer('orderevents', handlers, { ...options(), trust })
      const statuses = await consumer.deliver([[dated(entry(ours))]])
      expect(statuses.map(({ status }) => status)).to.deep.equal(['RETRY'])
      expect([handled, sidecar.published]).to.deep.equal([[], []])
    })

    it('checks the signature of the exact bytes, except for records from before the start of signing', async () => {
      const old = withHeaders(entry(ours), { __timestamp: String(Date.parse('2026-11-21T08:59:59Z')) })
      const young = withHeaders(entry(ours), { __timestamp: String(Date.parse('2026-11-21T09:00:00Z')) })
      const other = withHeaders(entry({ ...ours, Note: 1 }), { signature: signatureOf(entry(ours)) })
      appendTimes = appendedAsDated
      expect(await consumeTrusted(signed(entry(ours)), old, young, other)).to.deep.equal(['untrusted', 'untrusted'])
      expect(handled).to.have.length(2)
    })

    it('copies a signature to the dead letter only if it has a valid form', async () => {
      handle = async () => {
        throw new Error('a bug')
      }
      const record = signed(entry(ours))
      const long = withHeaders(entry(envelope), { signature: 'x'.repeat(100_000) })
      expect(await consumeTrusted(record)).to.deep.equal(['handler-error'])
      expect(await consumeTrusted(long)).to.deep.equal(['handler-error', 'untrusted'])
      const signatures = sidecar.published.map(({ headers }) => headers.signature)
      expect(signatures).to.deep.equal([record.metadata.signature, undefined])
    })

    it('checks an event’s content before its publisher, and ignores an event without a handler', async () => {
      const wrong = { ...envelope, Payload: {} }
      expect(await consumeTrusted(entry({ ...envelope, Name: 'OrderShipped' }), entry(wrong))).to.deep.equal([
        'invalid-payload',
      ])
    })
  })

  for (const total of ['999999999999.999999', '12.50000000000000000001', '-1e-400']) {
    it(`makes a dead letter of an event with the amount ${total}, which parsing would change`, async () => {
      const text = JSON.stringify(envelope).replace(/"Total":[\d.]+/, `"Total":${total}`)
      await consume(entry(text))
      const [deadLetter] = sidecar.published
      expect(deadLetter?.headers['deadletter-reason']).to.equal('invalid-payload')
      expect(deadLetter?.headers['deadletter-detail']).to.match(/"\/Payload\/Total".*at most 15 digits/)
      expect(handled).to.deep.equal([])
    })
  }

  it('accepts numbers with any number of digits in fields outside the contract', async () => {
    const text = JSON.stringify(envelope).replace('{', '{"Note":9007199254740993,')
    await consume(entry(text))
    expect(handled).to.have.length(1)
  })

  describe('metrics of the consumer', () => {
    const arrival = Date.parse('2026-11-21T09:59:58Z')
    let metrics: Metrics
    beforeEach(() => {
      metrics = createMetrics()
    })
    const arrived = (record: BulkEntry, headers: Record<string, string> = {}) => {
      Object.assign(record.metadata, { __timestamp: String(arrival), ...headers })
      return record
    }
    async function counted(...entries: BulkEntry[]) {
      await createConsumer('orderevents', handlers, { ...options(), metrics }).deliver([entries])
      const samples = await scrape(metrics.listener)
      return (name: string, labels: string) => samples.get(`orderflow_${name}{topic="orderevents"${labels}}`) ?? 0
    }

    it('counts each event by its outcome', async () => {
      const answers = [
        async () => true,
        async () => false,
        async () => Promise.reject(new SidecarError('save', 'down')),
      ]
      handle = async () => answers.shift()?.()
      const others = [entry('{'), entry({ ...envelope, Name: 'Ada Lovelace' })]
      const of = await counted(...['a', 'b', 'c'].map((key) => entry(envelope, key)), ...others)
      const outcomes = ['handled', 'duplicate', 'retried', 'dead-letter', 'unhandled']
      expect(outcomes.map((outcome) => of('events_total', `,outcome="${outcome}"`))).to.deep.equal([1, 1, 1, 1, 1])
      expect(of('dead_letters_total', ',reason="not-json"')).to.equal(1)
      expect(of('unhandled_events_total', ',event="other"')).to.equal(1)
    })

    it('counts a retried event and all later events with its key as retried', async () => {
      handle = async () => Promise.reject(new SidecarError('save', 'down'))
      const of = await counted(entry(envelope, 'a'), entry('{', 'a'))
      expect([of('events_total', ',outcome="retried"'), of('events_total', ',outcome="dead-letter"')]).to.deep.equal([
        2, 0,
      ])
    })

    it('measures how long the oldest event of a delivery waited in the log', async () => {
      const of = await counted(entry(envelope), arrived(entry(envelope)))
      expect(of('delivery_wait_seconds_sum', '')).to.equal(2)
      expect(of('delivery_size_events_sum', '')).to.equal(2)
      expect(of('events_in_flight', '')).to.equal(0)
    })

    it('measures the time of a reaction from the arrival of its cause, and ignores invalid times', async () => {
      const causes = [
        String(arrival - 1_000),
        String(arrival + 9_000),
        '',
        'soon',
        '1e13',
        '-1795000000123',
        '1'.repeat(400),
      ]
      const of = await counted(...causes.map((cause) => arrived(entry(envelope), { 'caused-at': cause })))
      const event = ',event="OrderCreated@1"'
      expect([of('reaction_seconds_count', event), of('reaction_seconds_sum', event)]).to.deep.equal([2, 3])
    })
  })

  it('adds an event’s time of arrival to the events that the handler publishes', async () => {
    const publish = createPublisher(sidecar)
    const reaction = { ...envelope, Id: randomUUID(), CorrelationId: randomUUID(), TraceId: '' } as unknown as Envelope
    handle = async () => {
      await Promise.resolve()
      await publish(recordOf('reactions', 'k', reaction, { sign: () => undefined }))
    }
    const record = entry(envelope)
    record.metadata.__timestamp = '1795000000123'
    expect(await consume(record)).to.deep.equal(['SUCCESS'])
    expect(sidecar.published[0]?.headers['caused-at']).to.equal('1795000000123')
  })

  it('ignores events without a handler, whatever their payload is', async () => {
    expect(
      await consume(entry({ ...envelope, Name: 'OrderShipped' }), entry({ ...envelope, Name: 'PaymentApproved' })),
    ).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect([handled, sidecar.published]).to.deep.equal([[], []])
  })

  it('derives the same ids for a replayed event as for the original event', async () => {
    await consume(entry(envelope))
    const replayed = entry(envelope)
    replayed.metadata['replayed-from'] = 'orderevents%2F2%2F1'
    await consume(replayed)
    expect(handled[1]).to.deep.equal(handled[0])
  })

  it('names the first record and the new record in the dead letter of a replayed event', async () => {
    await consume(timedEntry('{'))
    const replayed = timedEntry('{')
    replayed.metadata['replayed-from'] = 'orderevents%2F2%2F1'
    replayed.metadata['replayed-record'] = sidecar.published[0]?.headers['deadletter-record'] ?? ''
    await consume(replayed)
    const [first, second] = sidecar.published.map(({ headers }) => headers)
    expect(second).to.include({ 'deadletter-id': first?.['deadletter-id'], 'deadletter-offset': '1' })
    expect(second?.['deadletter-record']).not.to.equal(first?.['deadletter-record'])
    expect(first).not.to.have.property('deadletter-replay')
    expect(second).to.have.property('deadletter-replay', 'orderevents/2/2')
  })

  for (const header of [
    'paymentevents/2/1',
    'orderevents/2',
    'orderevents/02/1',
    'orderevents/2/1e3',
    '%ff',
    'a/b/c',
    // A replay is in the same partition as its origin, at a later position. So these origins are impossible.
    'orderevents/0/0',
    'orderevents/99/0',
    'orderevents/2/1',
    'orderevents/2/2',
    'orderevents/2/9223372036854775807',
    'orderevents/2/9999999999999999999',
  ]) {
    it(`ignores the header replayed-from with "${header}", because a replay cannot have this origin`, async () => {
      const odd = entry('{')
      odd.metadata['replayed-from'] = encodeURIComponent(header)
      await consume(odd)
      expect(sidecar.published[0]?.headers).to.include({ 'deadletter-offset': '1' })
      expect(sidecar.published[0]?.headers).not.to.have.property('deadletter-replay')
    })
  }

  it('makes a dead letter of the one bad event of a delivery, and handles the other events', async () => {
    const bad = JSON.stringify({ ...envelope, CreationDate: undefined, CreateDate: '2026-11-21T10:00:00Z' })
    expect(await consume(entry(envelope), entry(bad, 'a+b%2Fc'), entry(envelope))).to.deep.equal([
      'SUCCESS',
      'SUCCESS',
      'SUCCESS',
    ])
    expect(handled).to.have.length(2)
    const [deadLetter] = sidecar.published
    expect(deadLetter).to.include({ topic: 'orderevents.dead', key: 'a b/c' })
    expect(Buffer.from(deadLetter?.value ?? []).toString()).to.equal(bad)
    expect(deadLetter?.headers).to.include({
      'deadletter-reason': 'not-an-envelope',
      'deadletter-app': 'order-service',
      'deadletter-topic': 'orderevents',
      'deadletter-partition': '2',
      'deadletter-offset': '2',
      'deadletter-time': '2026-11-21T10:00:00.000Z',
    })
    expect(deadLetter?.headers['deadletter-detail']).to.contain('rename CreateDate to CreationDate')
  })

  it('gives the dead letters of an event the same id at every delivery', async () => {
    await consume(entry('{'))
    offset = 0
    await consume(entry('{'))
    const ids = sidecar.published.map(({ headers }) => headers['deadletter-id'])
    expect(ids).to.have.length(2)
    expect(new Set(ids).size).to.equal(1)
  })

  it('makes dead letters of events that contradict stored data, or that cause a bug', async () => {
    handle = async () => {
      throw Object.assign(new Error('known with another payload'), { code: 'broken-rule' })
    }
    expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    handle = async () => {
      throw new TypeError('x is undefined')
    }
    expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    for (const thrown of [undefined, { code: 'broken-rule' }, Object.assign(new Error('x'), { code: 'other' })]) {
      handle = () => Promise.reject(thrown)
      expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    }
    const told = sidecar.published.map(({ headers }) => [headers['deadletter-reason'], headers['deadletter-detail']])
    expect(told).to.deep.equal([
      ['broken-rule', 'known with another payload'],
      ['handler-error', 'TypeError: x is undefined'],
      ['handler-error', 'unknown'],
      ['handler-error', 'unknown'],
      ['handler-error', 'Error: x'],
    ])
  })

  it('returns RETRY for an event and for later events with its key if the store or the broker failed', async () => {
    handle = async ({ Payload }) => {
      if (Payload.Total === 2) throw new SidecarError('write state', new Error('down'))
    }
    const statuses = await consume(
      entry(envelope, 'k'),
      entry({ ...envelope, Payload: { ...envelope.Payload, Total: 2 } }, 'k'),
      entry(envelope, 'other'),
      entry(envelope, 'k'),
      entry(envelope),
    )
    expect(statuses).to.deep.equal(['SUCCESS', 'RETRY', 'SUCCESS', 'RETRY', 'SUCCESS'])
    expect(sidecar.published).to.deep.equal([])
    expect(lines()).to.have.lengthOf(1)
    expect(lines()[0]).to.include({
      level: 50,
      topic: 'orderevents',
      msg: 'a part of the batch will be delivered again',
    })
    expect(lines()[0].err.message).to.contain('down')
  })

  it('returns SUCCESS for handled events, and logs nothing', async () => {
    expect(await consume(entry(envelope, 'k'), entry(envelope, 'k'))).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect(logged).to.deep.equal([])
  })

  it('returns RETRY for a bad event if its dead letter could not be published', async () => {
    sidecar.failures.publish.push(new SidecarError('publish', new Error('down')))
    expect(await consume(entry('{'))).to.deep.equal(['RETRY'])
  })

  it('logs no personal data of a bad event', async () => {
    await consume(entry({ ...envelope, Version: 'one' }), entry(`${JSON.stringify(envelope)}}`))
    expect(logged.join('')).not.to.contain('SECRET-TAX-ID')
    const expected = { topic: 'orderevents', partition: 2, level: 40, msg: 'event dead-lettered' }
    expect(lines()[0]).to.include({ ...expected, offset: '1', reason: 'not-an-envelope' })
    expect(lines()[0].detail).to.contain('/Version')
    expect(lines()[1]).to.include({ ...expected, offset: '2', reason: 'not-json' })
  })

  const telling: Record<string, () => Error> = {
    'a bug': () => new TypeError('no SECRET-TAX-ID in tax-id'),
    'a broken rule': () => Object.assign(new Error('broken by SECRET-TAX-ID'), { code: 'broken-rule' }),
    'a store that refuses': () => new SidecarError('write', new Error('too long: SECRET-TAX-ID'), 'refused'),
  }
  for (const [what, thrown] of Object.entries(telling)) {
    it(`masks the event’s values in the message of ${what}, in the dead letter and in the log`, async () => {
      handle = async () => {
        throw thrown()
      }
      await consume(entry(envelope))
      const warning = lines().find(({ msg }) => msg === 'event dead-lettered')
      const details = [sidecar.published[0]?.headers['deadletter-detail'], warning.detail]
      for (const detail of details)
        expect(detail)
          .to.contain('***')
          .and.not.to.match(/SECRET|TAX/i)
    })
  }

  it('makes a dead letter if the store or the broker refuses a document or record permanently', async () => {
    handle = async () => {
      throw new SidecarError('write state', new Error('message larger than max'), 'refused')
    }
    expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    expect(sidecar.published.map(({ headers }) => headers['deadletter-reason'])).to.deep.equal(['refused'])
  })

  it('reports a bug of the handler if the handler makes an invalid event', async () => {
    handle = async () => {
      createEnvelope({
        app: { id: 'no guid', name: '' },
        type: 'OrderCancelled@1',
        payload: { OrderId: orderId },
        creationDate: new Date(),
      })
    }
    await consume(entry(envelope))
    expect(sidecar.published[0]?.headers).to.include({ 'deadletter-reason': 'handler-error' })
    expect(sidecar.published[0]?.headers['deadletter-detail']).to.match(
      /^the handler made an invalid event: EnvelopeError: not-an-envelope: \/AppId must be a GUID/,
    )
  })

  it('reports a bug of the handler if the handler throws synchronously', async () => {
    handle = () => {
      throw new EnvelopeError({ code: 'invalid-payload', problems: [] })
    }
    await consume(entry(envelope))
    expect(sidecar.published.map(({ headers }) => headers['deadletter-reason'])).to.deep.equal(['handler-error'])
  })

  it('makes a dead letter of an event with an unknown version, and names the known versions', async () => {
    await consume(entry({ ...envelope, Version: 99 }))
    expect(handled).to.deep.equal([])
    expect(sidecar.published[0]?.headers).to.include({ 'deadletter-reason': 'unknown-version' })
    expect(sidecar.published[0]?.headers['deadletter-detail']).to.match(/OrderCreated.*1/)
  })

  for (const Name of ['orderCreated', 'OrderCreate', 'Order_Created', 'ORDER-CREATED', 'OrderCraeted']) {
    it(`makes a dead letter of an event with the name ${Name}, which is a misspelt OrderCreated`, async () => {
      await consume(entry({ ...envelope, Name }))
      expect(sidecar.published[0]?.headers).to.include({ 'deadletter-reason': 'unknown-event' })
      expect(sidecar.published[0]?.headers['deadletter-detail']).to.contain('write OrderCreated')
    })
  }

  it('logs an event type without a handler only once', async () => {
    await consume(...Array.from({ length: 5 }, () => entry({ ...envelope, Name: 'OrderShipped' })))
    const lines = logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'OrderShipped@1')
    expect(lines).to.have.length(1)
  })

  it('publishes a smaller dead letter if the dead-letter topic refuses the complete dead letter', async () => {
    sidecar.failures.publish.push(new SidecarError('publish', new Error('message was too large'), 'refused'))
    expect(await consume(entry('{'))).to.deep.equal(['SUCCESS'])
    expect(sidecar.published.map(({ headers }) => headers['deadletter-reason'])).to.deep.equal(['not-json'])
  })

  describe('for a delivery in several parts', () => {
    const down = () => new SidecarError('write state', new Error('down'))
    const statusesOf = async (parts: AsyncIterable<BulkEntry[]> | Iterable<BulkEntry[]>, given = options()) => {
      const statuses = await createConsumer('orderevents', handlers, given).deliver(parts)
      return statuses.map(({ entryId, status }) => `${entryId} ${status}`)
    }

    it('handles a part after the previous part, and returns the statuses of all parts in order', async () => {
      let inFlight = 0
      const sizes: number[] = []
      handle = async () => {
        inFlight += 1
        await new Promise((resolve) => setImmediate(resolve))
        sizes.push(inFlight)
        inFlight -= 1
      }
      const parts = [[entry(envelope), entry(envelope)], [entry(envelope)], [entry('{'), entry(envelope)]]
      expect(await statusesOf(parts)).to.deep.equal([1, 2, 3, 4, 5].map((id) => `e${id} SUCCESS`))
      expect(sizes).to.deep.equal([2, 1, 1, 1])
    })

    it('does not attempt later records with the key of a failed record', async () => {
      const keys: string[] = []
      handle = async ({ Payload }) => {
        keys.push(Payload.CustomerName)
        if (Payload.CustomerName === 'b1') throw down()
      }
      const named = (CustomerName: string) => ({ ...envelope, Payload: { ...envelope.Payload, CustomerName } })
      const record = (name: string) => entry(named(name), name.slice(0, 1))
      const parts = [
        [record('a1'), record('b1')],
        [record('b2'), record('a2')],
        [record('b3'), entry('{', 'b')],
      ]
      const [SUCCESS, RETRY] = ['SUCCESS', 'RETRY']
      const expected = [SUCCESS, RETRY, RETRY, SUCCESS, RETRY, RETRY].map((status, index) => `e${index + 1} ${status}`)
      expect(await statusesOf(parts)).to.deep.equal(expected)
      expect(keys).to.deep.equal(['a1', 'b1', 'a2'])
      expect([sidecar.published, lines().length]).to.deep.equal([[], 1])
    })

    it('attempts all later records if the failed record has no key', async () => {
      const answers = [() => Promise.reject(down()), async () => {}]
      handle = async () => answers.shift()?.()
      expect(await statusesOf([[entry(envelope)], [entry(envelope)]])).to.deep.equal(['e1 RETRY', 'e2 SUCCESS'])
    })

    it('publishes the dead letters of every part', async () => {
      await statusesOf([[entry('{')], [entry(envelope), entry('[')], [entry('}')]])
      expect(sidecar.published.map(({ headers }) => headers['deadletter-offset'])).to.deep.equal(['1', '3', '4'])
    })

    /** Delivers four parts. Each of the first three takes 25 seconds. */
    async function deliverSlowly(): Promise<string[]> {
      handle = async (event) => {
        handled.push(event)
        time.passAtOnce(25_000)
      }
      return await statusesOf([[entry(envelope)], [entry(envelope)], [entry(envelope)], [entry('{')]])
    }

    it('answers RETRY for the parts that arrive more than 30 seconds after the delivery', async () => {
      expect(await deliverSlowly()).to.deep.equal(['e1 SUCCESS', 'e2 SUCCESS', 'e3 RETRY', 'e4 RETRY'])
      expect([handled.length, sidecar.published]).to.deep.equal([2, []])
      expect(lines().map(({ err }) => err.message)).to.deep.equal([
        'the earlier records of the delivery took more than 30000 ms',
      ])
    })

    describe('with an inspector', () => {
      openInspector()

      it('handles all parts, although a debugger stopped the process for longer than 30 seconds', async () => {
        expect(await deliverSlowly()).to.deep.equal([1, 2, 3, 4].map((id) => `e${id} SUCCESS`))
      })
    })

    it('counts the events of all parts as one delivery', async () => {
      const { metrics } = options()
      const early = entry(envelope)
      early.metadata.__timestamp = String(Date.parse('2026-11-21T09:59:58Z'))
      await statusesOf([[entry(envelope)], [early, entry(envelope)]], { ...options(), metrics })
      const samples = await scrape(metrics.listener)
      const names = ['delivery_size_events_sum', 'delivery_size_events_count', 'delivery_wait_seconds_sum']
      const of = (name: string) => samples.get(`orderflow_${name}{topic="orderevents"}`)
      expect([...names, 'events_in_flight'].map(of)).to.deep.equal([3, 1, 2, 0])
    })

    it('counts the handled events, and rejects, if the rest of the delivery does not arrive', async () => {
      const { metrics } = options()
      async function* broken() {
        yield [entry(envelope), entry(envelope)]
        throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
      }
      const failure = await statusesOf(broken(), { ...options(), metrics }).catch((error: unknown) => error)
      expect(failure).to.have.property('code', 'ECONNRESET')
      const samples = await scrape(metrics.listener)
      expect(samples.get('orderflow_events_total{topic="orderevents",outcome="handled"}')).to.equal(2)
      expect(samples.get('orderflow_events_in_flight{topic="orderevents"}')).to.equal(0)
    })
  })

  it('ends the current attempt of a repeated delivery before it attempts the record again, and attempts no more records', async () => {
    const steps: string[] = []
    const ends: (() => void)[] = []
    handle = async ({ Payload }) => {
      steps.push(`begin ${Payload.CustomerName}`)
      await new Promise<void>((resolve) => ends.push(resolve))
      steps.push(`end ${Payload.CustomerName}`)
    }
    const named = (CustomerName: string) =>
      entry({ ...envelope, Payload: { ...envelope.Payload, CustomerName } }, CustomerName)
    const [a, b] = [named('a'), named('b')]
    const consumer = createConsumer('orderevents', handlers, options())
    const turns = async () => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
    }
    const first = consumer.deliver([[a], [b]])
    await turns()
    const second = consumer.deliver([[a]])
    await turns()
    expect(steps).to.deep.equal(['begin a'])
    ends.shift()?.()
    await turns()
    expect(steps).to.deep.equal(['begin a', 'end a', 'begin a'])
    ends.shift()?.()
    const statuses = (await Promise.all([first, second])).map((all) => all.map(({ status }) => status))
    expect(statuses).to.deep.equal([['SUCCESS', 'RETRY'], ['SUCCESS']])
  })

  it('attempts a record with a dead letter once, even if its delivery is repeated', async () => {
    const steps: string[] = []
    let isBroken = true
    handle = async ({ Payload }) => {
      steps.push(Payload.CustomerName)
      if (isBroken && Payload.CustomerName === 'a1') throw new TypeError('a bug')
    }
    const named = (CustomerName: string) =>
      entry({ ...envelope, Payload: { ...envelope.Payload, CustomerName } }, CustomerName.slice(0, 1))
    const [a1, a2] = [named('a1'), named('a2')]
    const consumer = createConsumer('orderevents', handlers, options())
    await consumer.deliver([[a1, a2]])
    isBroken = false
    expect((await consumer.deliver([[a1, a2]])).map(({ status }) => status)).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect(steps).to.deep.equal(['a1', 'a1', 'a2', 'a2'])
    // The topic was created again, and has another record at this position.
    await consumer.deliver([[{ ...named('a3'), metadata: a1.metadata }]])
    expect(steps.at(-1)).to.equal('a3')
    expect(sidecar.published).to.have.length(1)
  })

  it('handles records of other keys while a record waits', async () => {
    const ended: string[] = []
    let endFirst = () => {}
    handle = async ({ Payload }) => {
      if (Payload.CustomerName === 'slow') await new Promise<void>((resolve) => (endFirst = resolve))
      ended.push(Payload.CustomerName)
      if (ended.length === 2) endFirst()
    }
    const named = (CustomerName: string, key?: string) =>
      entry({ ...envelope, Payload: { ...envelope.Payload, CustomerName } }, key)
    await consume(named('slow', 'k'), named('later', 'k'), named('other', 'other'), named('none'))
    expect(ended).to.deep.equal(['other', 'none', 'slow', 'later'])
  })

  it('makes a dead letter of a record without a value (a tombstone)', async () => {
    await consume(entry(null, ''))
    const [deadLetter] = sidecar.published
    expect(deadLetter).to.include({ key: undefined }).and.to.have.deep.property('value', Buffer.alloc(0))
    expect(deadLetter?.headers)
      .to.include({ 'deadletter-reason': 'not-json' })
      .and.not.to.have.property('deadletter-key')
    expect(deadLetter?.headers['deadletter-detail']).to.contain('tombstone')
  })

  it('copies only a valid traceparent to the dead letter, and adds a binary key in readable form', async () => {
    const odd = entry('{', '%ff%00')
    odd.metadata.traceparent = 'x'.repeat(100_000)
    await consume(odd)
    expect(sidecar.published[0]?.key).to.equal(undefined)
    expect(sidecar.published[0]?.headers)
      .to.include({ 'deadletter-key': '%ff%00' })
      .and.not.to.have.property('traceparent')
    const traced = entry('{')
    traced.metadata.traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await consume(traced)
    expect(sidecar.published[1]?.headers).to.include({ traceparent: traced.metadata.traceparent })
    traced.metadata.tracestate = 'shop%3D1%2Cother%3D2'
    traced.metadata.traceparent = '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more'
    await consume(traced)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect(sidecar.published[2]?.headers).to.include({ traceparent, tracestate: 'shop=1,other=2' })
  })

  it('fails if a delivered record has no position', async () => {
    for (const field of ['__offset', '__partition']) {
      const nowhere = entry(envelope)
      delete nowhere.metadata[field]
      expect(await consume(nowhere).catch((error: Error) => error.message)).to.contain(
        'without its partition or offset',
      )
    }
  })

  it('retries only the failed event if it has no key', async () => {
    let calls = 0
    handle = async () => {
      calls += 1
      if (calls === 1) throw new SidecarError('write state', new Error('down'))
    }
    expect(await consume(entry(envelope), entry(envelope))).to.deep.equal(['RETRY', 'SUCCESS'])
  })
})

describe('deadLetterOf', () => {
  const delivery = () => readDelivery(entry('{', 'k'), 'orderevents')

  it('returns dead letters with different ids for different apps', () => {
    const ids = ['order-service', 'payment-service'].map((app) => {
      return deadLetterOf(delivery(), { code: 'c', detail: 'd' }, app, new Date()).headers['deadletter-id']
    })
    expect(new Set(ids).size).to.equal(2)
  })

  it('cuts a long detail, but does not split a character', () => {
    const detail = `${'x'.repeat(3_999)}🚀${'y'.repeat(9_000)}`
    const cut =
      deadLetterOf(delivery(), { code: 'c', detail }, 'order-service', new Date()).headers['deadletter-detail'] ?? ''
    expect(cut).to.have.length(4_000)
    expect(cut.isWellFormed()).to.equal(true)
  })
})
