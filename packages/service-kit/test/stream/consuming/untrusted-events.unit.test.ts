import { randomUUID } from 'node:crypto'
import { positionText } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { createConsumer } from '../../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'
import type { AppendTimes } from '../../../src/stream/log/shared-admin.ts'
import { createSigner, createTrust } from '../../../src/trust/trust.ts'
import { consuming, entry, envelope } from './consuming.ts'

describe('createConsumer, about untrusted events', () => {
  const tested = consuming()
  const { handlers, lines, options, reasons } = tested

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
    return reasons()
  }
  const withHeaders = (record: BulkEntry, headers: Record<string, string>) => {
    Object.assign(record.metadata, headers)
    return record
  }
  const signatureOf = ({ value }: BulkEntry) => signer.sign(value) ?? ''
  const signed = (record: BulkEntry) => withHeaders(record, { signature: signatureOf(record) })

  it('makes a dead letter with the reason, and does not call the handler', async () => {
    expect(await consumeTrusted(entry(envelope))).to.deep.equal(['untrusted'])
    const [deadLetter] = tested.sidecar.published
    expect(deadLetter?.headers['deadletter-detail']).to.equal('only shop publishes to orderevents')
    expect(tested.handled).to.deep.equal([])
    expect(lines()[0]).to.include({ reason: 'untrusted' })
  })

  const moment = Date.parse('2026-11-21T08:59:59Z')
  const dated = (record: BulkEntry) => withHeaders(record, { __timestamp: String(moment) })
  /** Answers as Kafka does for a topic where the broker sets the time. */
  const appendedAsDated: AppendTimes = async (positions) =>
    new Map(positions.map((position) => [positionText(position), moment]))

  it('requires a signature if only the publisher’s own date is before the start of signing', async () => {
    expect(await consumeTrusted(dated(entry(ours)), dated(signed(entry(ours))))).to.deep.equal(['untrusted'])
    expect(tested.handled).to.have.length(1)
  })

  it('asks Kafka who set a record’s time only if this time is before the start of signing', async () => {
    const asked: string[] = []
    tested.appendTimes = async (positions) => {
      for (const position of positions) asked.push(positionText(position))
      return appendedAsDated(positions)
    }
    await consumeTrusted(signed(entry(ours)), entry(ours))
    expect(asked).to.deep.equal([])
    await consumeTrusted(dated(entry(ours)), entry(ours), dated(entry(ours)))
    expect(asked).to.deep.equal(['orderevents/2/3', 'orderevents/2/5'])
  })

  it('returns RETRY if Kafka cannot report who set the times', async () => {
    tested.appendTimes = async () => {
      throw new Error('connect ECONNREFUSED')
    }
    const consumer = createConsumer('orderevents', handlers, { ...options(), trust })
    const statuses = await consumer.deliver([[dated(entry(ours))]])
    expect(statuses.map(({ status }) => status)).to.deep.equal(['RETRY'])
    expect([tested.handled, tested.sidecar.published]).to.deep.equal([[], []])
  })

  it('checks the signature of the exact bytes, except for records from before the start of signing', async () => {
    const old = withHeaders(entry(ours), { __timestamp: String(Date.parse('2026-11-21T08:59:59Z')) })
    const young = withHeaders(entry(ours), { __timestamp: String(Date.parse('2026-11-21T09:00:00Z')) })
    const other = withHeaders(entry({ ...ours, Note: 1 }), { signature: signatureOf(entry(ours)) })
    tested.appendTimes = appendedAsDated
    expect(await consumeTrusted(signed(entry(ours)), old, young, other)).to.deep.equal(['untrusted', 'untrusted'])
    expect(tested.handled).to.have.length(2)
  })

  it('copies a signature to the dead letter only if it has a valid form', async () => {
    tested.handle = async () => {
      throw new Error('a bug')
    }
    const record = signed(entry(ours))
    const long = withHeaders(entry(envelope), { signature: 'x'.repeat(100_000) })
    expect(await consumeTrusted(record)).to.deep.equal(['handler-error'])
    expect(await consumeTrusted(long)).to.deep.equal(['handler-error', 'untrusted'])
    const signatures = tested.sidecar.published.map(({ headers }) => headers.signature)
    expect(signatures).to.deep.equal([record.metadata.signature, undefined])
  })

  it('checks an event’s content before its publisher, and ignores an event without a handler', async () => {
    const wrong = { ...envelope, Payload: {} }
    expect(await consumeTrusted(entry({ ...envelope, Name: 'OrderShipped' }), entry(wrong))).to.deep.equal([
      'invalid-payload',
    ])
  })
})
