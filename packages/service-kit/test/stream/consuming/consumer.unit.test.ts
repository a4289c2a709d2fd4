import { randomUUID } from 'node:crypto'
import { completeEnvelope, type Envelope, type ReceivedEnvelope } from '@orderflow/envelope'
import { expect } from 'chai'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createConsumer, createConsumers } from '../../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'
import { createPublisher, recordOf } from '../../../src/stream/publishing/publish.ts'
import { createMetrics, type Metrics } from '../../../src/telemetry/metrics.ts'
import { scrape } from '../../../src/testing/scrape.ts'
import { consuming, entry, envelope } from './consuming.ts'

describe('createConsumer', () => {
  const tested = consuming()
  const { consume, handlers, options } = tested

  it('returns one consumer for each topic, which publishes to that topic’s dead-letter topic', async () => {
    const consumers = createConsumers({ orderevents: handlers, paymentevents: {} }, options())
    expect(Object.keys(consumers)).to.deep.equal(['orderevents', 'paymentevents'])
    expect(await consumers.orderevents?.deliver([[entry(envelope)]])).to.deep.equal([
      { entryId: 'e1', status: 'SUCCESS' },
    ])
    expect(tested.handled).to.have.lengthOf(1)
    await consumers.paymentevents?.deliver([[entry('{')]])
    expect(tested.sidecar.published.map(({ topic }) => topic)).to.deep.equal(['paymentevents.dead'])
  })

  it('passes all events of a batch to the handler in order, and derives the ids of an envelope without ids', async () => {
    expect(await consume(entry(envelope), entry(envelope, 'k'))).to.deep.equal(['SUCCESS', 'SUCCESS'])
    const [first, second] = tested.handled
    expect(first?.Id).to.match(/^[0-9a-f-]{36}$/)
    expect(first?.CorrelationId).to.equal(first?.TraceId)
    expect(second?.Id).not.to.equal(first?.Id)
    await consume(entry(envelope))
    expect(tested.handled[2]?.Id).to.equal(first?.Id)
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
      expect([tested.handled.at(-1)?.Id, tested.handled.at(-1)?.TraceId]).to.deep.equal([Id, TraceId])
    }
  })

  it('accepts numbers with any number of digits in fields outside the contract', async () => {
    const text = JSON.stringify(envelope).replace('{', '{"Note":9007199254740993,')
    await consume(entry(text))
    expect(tested.handled).to.have.length(1)
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
      tested.handle = async () => answers.shift()?.()
      const others = [entry('{'), entry({ ...envelope, Name: 'Ada Lovelace' })]
      const of = await counted(...['a', 'b', 'c'].map((key) => entry(envelope, key)), ...others)
      const outcomes = ['handled', 'duplicate', 'retried', 'dead-letter', 'unhandled']
      expect(outcomes.map((outcome) => of('events_total', `,outcome="${outcome}"`))).to.deep.equal([1, 1, 1, 1, 1])
      expect(of('dead_letters_total', ',reason="not-json"')).to.equal(1)
      expect(of('unhandled_events_total', ',event="other"')).to.equal(1)
    })

    it('counts a retried event and all later events with its key as retried', async () => {
      tested.handle = async () => Promise.reject(new SidecarError('save', 'down'))
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
    const publish = createPublisher(tested.sidecar)
    const reaction = { ...envelope, Id: randomUUID(), CorrelationId: randomUUID(), TraceId: '' } as unknown as Envelope
    tested.handle = async () => {
      await Promise.resolve()
      await publish(recordOf('reactions', 'k', reaction, { sign: () => undefined }))
    }
    const record = entry(envelope)
    record.metadata.__timestamp = '1795000000123'
    expect(await consume(record)).to.deep.equal(['SUCCESS'])
    expect(tested.sidecar.published[0]?.headers['caused-at']).to.equal('1795000000123')
  })

  it('ignores events without a handler, whatever their payload is', async () => {
    expect(
      await consume(entry({ ...envelope, Name: 'OrderShipped' }), entry({ ...envelope, Name: 'PaymentApproved' })),
    ).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect([tested.handled, tested.sidecar.published]).to.deep.equal([[], []])
  })

  it('derives the same ids for a replayed event as for the original event', async () => {
    await consume(entry(envelope))
    const replayed = entry(envelope)
    replayed.metadata['replayed-from'] = 'orderevents%2F2%2F1'
    await consume(replayed)
    expect(tested.handled[1]).to.deep.equal(tested.handled[0])
  })

  it('logs an event type without a handler only once', async () => {
    await consume(...Array.from({ length: 5 }, () => entry({ ...envelope, Name: 'OrderShipped' })))
    const lines = tested.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'OrderShipped@1')
    expect(lines).to.have.length(1)
  })
})
