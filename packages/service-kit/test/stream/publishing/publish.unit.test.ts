import type { Envelope } from '@orderflow/envelope'
import { expect } from 'chai'
import { type OutgoingEvent, SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createPublish, createPublisher, recordOf } from '../../../src/stream/publishing/publish.ts'
import { within } from '../../../src/telemetry/context.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { virtualTime } from '../../support/virtual-time.ts'

const event = (topic: string, value: string, headers = {}): OutgoingEvent => {
  return { topic, key: 'k', value: Buffer.from(value), headers }
}

const unsigned = { sign: () => undefined }

describe('createPublisher and recordOf', () => {
  const time = virtualTime()

  it('writes an envelope unchanged, with the traceparent of the publishing span', () => {
    const envelope = { TraceId: '0AF76519-16cd-43dd-8448-eb211c80319c', Name: 'Done' } as unknown as Envelope
    const { headers, value, ...record } = recordOf('a', 'k', envelope, unsigned, { traceparent: 'of a span' })
    expect(record).to.deep.equal({ topic: 'a', key: 'k' })
    expect(Buffer.from(value).toString()).to.equal(JSON.stringify(envelope))
    expect(headers).to.deep.equal({ traceparent: 'of a span' })
  })

  it('adds the cause’s time of arrival to a reaction', () => {
    const envelope = { TraceId: '00000000-0000-0000-0000-000000000000' } as unknown as Envelope
    const headersAt = (arrivedAt: number | undefined) =>
      within({ document: {}, arrivedAt }, () => recordOf('a', 'k', envelope, unsigned)).headers
    expect(headersAt(1_795_000_000_123)).to.deep.equal({ 'caused-at': '1795000000123' })
    for (const unknown of [undefined, Number.NaN]) expect(headersAt(unknown)).to.deep.equal({})
  })

  it('writes an event with the key that its topic declares, and without a key if the event lacks the key’s field', async () => {
    const sidecar = new FakeSidecar()
    const publish = createPublish(createPublisher(sidecar), unsigned, undefined)
    const created = (Payload: object) => ({ Name: 'OrderCreated', Payload }) as unknown as Envelope
    await publish('orderevents', created({ OrderId: 'an order', Total: 1 }))
    await publish('orderevents', created({ Total: 1 }))
    expect(sidecar.published.map(({ key }) => key)).to.deep.equal(['an order', undefined])
  })

  it('signs exactly the bytes that it writes', () => {
    const envelope = { TraceId: '', Name: 'Done', Payload: { Text: 'ü' } } as unknown as Envelope
    const sign = (topic: string, { Name }: { Name: string }, value: Uint8Array) =>
      `${topic} ${Name} ${Buffer.from(value)}`
    const { headers, value } = recordOf('a', 'k', envelope, { sign })
    expect(headers.signature).to.equal(`a Done ${Buffer.from(value)}`)
  })

  it('publishes events to their own topics, in the order of the calls', async () => {
    const sidecar = new FakeSidecar()
    const calls: [string, string[]][] = []
    sidecar.publish = async (topic, events) => {
      calls.push([topic, events.map(({ value }) => Buffer.from(value).toString())])
    }
    const publish = createPublisher(sidecar)
    await Promise.all([event('a', '1'), event('a.dead', '2'), event('a', '3')].map(publish))
    expect(calls).to.deep.equal([
      ['a', ['1', '3']],
      ['a.dead', ['2']],
    ])
  })

  it('keeps a bulk publish below the limit of a record batch, including headers and keys', async () => {
    const sidecar = new FakeSidecar()
    const sizes: number[] = []
    sidecar.publish = async (_topic, events) => {
      sizes.push(events.length)
    }
    const publish = createPublisher(sidecar)
    await Promise.all(Array.from({ length: 8 }, () => publish(event('a', 'x', { detail: 'y'.repeat(60_000) }))))
    expect(sizes).to.deep.equal([3, 3, 2])
  })

  it('waits between two bulk publishes for the time that the sidecar requires', async () => {
    const sidecar = Object.assign(new FakeSidecar(), { writeIntervalMs: 20 })
    const publish = createPublisher(sidecar)
    await publish(event('a', '1'))
    publish(event('a', '2'))
    await time.pass(19)
    expect(sidecar.calls.publish).to.equal(1)
    await time.pass(1)
    expect(sidecar.calls.publish).to.equal(2)
  })

  it('publishes to other topics while publishing to one topic hangs', async () => {
    const sidecar = new FakeSidecar()
    sidecar.publish = (topic) => (topic === 'hangs' ? new Promise(() => {}) : Promise.resolve())
    const publish = createPublisher(sidecar)
    publish(event('hangs', '1'))
    await publish(event('a', '2'))
  })

  it('finds the one event that the broker refuses, and publishes the other events', async () => {
    const sidecar = new FakeSidecar()
    const publish = createPublisher(sidecar)
    const original = sidecar.publish.bind(sidecar)
    sidecar.publish = async (topic, events) => {
      if (events.some(({ value }) => value.byteLength > 3))
        throw new SidecarError('publish', new Error('too large'), 'refused')
      await original(topic, events)
    }
    const results = await Promise.allSettled(['1', '2', 'large', '4', '5'].map((value) => publish(event('a', value))))
    expect(results.map(({ status }) => status[0]).join('')).to.equal('ffrff')
    expect(sidecar.published.map(({ value }) => Buffer.from(value).toString())).to.deep.equal(['1', '2', '4', '5'])
  })

  it('fails all events of a bulk publish after one attempt if the broker is down', async () => {
    const sidecar = new FakeSidecar()
    sidecar.failures.publish.push(new SidecarError('publish', new Error('down')))
    const publish = createPublisher(sidecar)
    const results = await Promise.allSettled(['1', '2', '3'].map((value) => publish(event('a', value))))
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected'])
    expect(sidecar.calls.publish).to.equal(1)
  })
})
