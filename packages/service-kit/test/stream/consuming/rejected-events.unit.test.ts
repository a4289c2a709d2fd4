import { createEnvelope, EnvelopeError } from '@orderflow/envelope'
import { expect } from 'chai'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import { deadLetterOf } from '../../../src/stream/dead-letters/dead-letter.ts'
import { readDelivery } from '../../../src/stream/log/record.ts'
import { consuming, entry, envelope, orderId, restartOffsets, timedEntry } from './consuming.ts'

describe('createConsumer, about dead letters', () => {
  const tested = consuming()
  const { consume, lines, reasons } = tested

  for (const total of ['999999999999.999999', '12.50000000000000000001', '-1e-400']) {
    it(`makes a dead letter of an event with the amount ${total}, which parsing would change`, async () => {
      const text = JSON.stringify(envelope).replace(/"Total":[\d.]+/, `"Total":${total}`)
      await consume(entry(text))
      const [deadLetter] = tested.sidecar.published
      expect(deadLetter?.headers['deadletter-reason']).to.equal('invalid-payload')
      expect(deadLetter?.headers['deadletter-detail']).to.match(/"\/Payload\/Total".*at most 15 digits/)
      expect(tested.handled).to.deep.equal([])
    })
  }

  it('names the first record and the new record in the dead letter of a replayed event', async () => {
    await consume(timedEntry('{'))
    const replayed = timedEntry('{')
    replayed.metadata['replayed-from'] = 'orderevents%2F2%2F1'
    replayed.metadata['replayed-record'] = tested.sidecar.published[0]?.headers['deadletter-record'] ?? ''
    await consume(replayed)
    const [first, second] = tested.sidecar.published.map(({ headers }) => headers)
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
      expect(tested.sidecar.published[0]?.headers).to.include({ 'deadletter-offset': '1' })
      expect(tested.sidecar.published[0]?.headers).not.to.have.property('deadletter-replay')
    })
  }

  it('makes a dead letter of the one bad event of a delivery, and handles the other events', async () => {
    const bad = JSON.stringify({ ...envelope, CreationDate: undefined, CreateDate: '2026-11-21T10:00:00Z' })
    expect(await consume(entry(envelope), entry(bad, 'a+b%2Fc'), entry(envelope))).to.deep.equal([
      'SUCCESS',
      'SUCCESS',
      'SUCCESS',
    ])
    expect(tested.handled).to.have.length(2)
    const [deadLetter] = tested.sidecar.published
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
    restartOffsets()
    await consume(entry('{'))
    const ids = tested.sidecar.published.map(({ headers }) => headers['deadletter-id'])
    expect(ids).to.have.length(2)
    expect(new Set(ids).size).to.equal(1)
  })

  it('makes dead letters of events that contradict stored data, or that cause a bug', async () => {
    tested.handle = async () => {
      throw Object.assign(new Error('known with another payload'), { code: 'broken-rule' })
    }
    expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    tested.handle = async () => {
      throw new TypeError('x is undefined')
    }
    expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    for (const thrown of [undefined, { code: 'broken-rule' }, Object.assign(new Error('x'), { code: 'other' })]) {
      tested.handle = () => Promise.reject(thrown)
      expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    }
    const told = tested.sidecar.published.map(({ headers }) => [
      headers['deadletter-reason'],
      headers['deadletter-detail'],
    ])
    expect(told).to.deep.equal([
      ['broken-rule', 'known with another payload'],
      ['handler-error', 'TypeError: x is undefined'],
      ['handler-error', 'unknown'],
      ['handler-error', 'unknown'],
      ['handler-error', 'Error: x'],
    ])
  })

  it('logs no personal data of a bad event', async () => {
    await consume(entry({ ...envelope, Version: 'one' }), entry(`${JSON.stringify(envelope)}}`))
    expect(tested.logged.join('')).not.to.contain('SECRET-TAX-ID')
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
      tested.handle = async () => {
        throw thrown()
      }
      await consume(entry(envelope))
      const warning = lines().find(({ msg }) => msg === 'event dead-lettered')
      const details = [tested.sidecar.published[0]?.headers['deadletter-detail'], warning.detail]
      for (const detail of details)
        expect(detail)
          .to.contain('***')
          .and.not.to.match(/SECRET|TAX/i)
    })
  }

  it('makes a dead letter if the store or the broker refuses a document or record permanently', async () => {
    tested.handle = async () => {
      throw new SidecarError('write state', new Error('message larger than max'), 'refused')
    }
    expect(await consume(entry(envelope))).to.deep.equal(['SUCCESS'])
    expect(reasons()).to.deep.equal(['refused'])
  })

  it('reports a bug of the handler if the handler makes an invalid event', async () => {
    tested.handle = async () => {
      createEnvelope({
        app: { id: 'no guid', name: '' },
        type: 'OrderCancelled@1',
        payload: { OrderId: orderId },
        creationDate: new Date(),
      })
    }
    await consume(entry(envelope))
    expect(tested.sidecar.published[0]?.headers).to.include({ 'deadletter-reason': 'handler-error' })
    expect(tested.sidecar.published[0]?.headers['deadletter-detail']).to.match(
      /^the handler made an invalid event: EnvelopeError: not-an-envelope: \/AppId must be a GUID/,
    )
  })

  it('reports a bug of the handler if the handler throws synchronously', async () => {
    tested.handle = () => {
      throw new EnvelopeError({ code: 'invalid-payload', problems: [] })
    }
    await consume(entry(envelope))
    expect(reasons()).to.deep.equal(['handler-error'])
  })

  it('makes a dead letter of an event with an unknown version, and names the known versions', async () => {
    await consume(entry({ ...envelope, Version: 99 }))
    expect(tested.handled).to.deep.equal([])
    expect(tested.sidecar.published[0]?.headers).to.include({ 'deadletter-reason': 'unknown-version' })
    expect(tested.sidecar.published[0]?.headers['deadletter-detail']).to.match(/OrderCreated.*1/)
  })

  for (const Name of ['orderCreated', 'OrderCreate', 'Order_Created', 'ORDER-CREATED', 'OrderCraeted']) {
    it(`makes a dead letter of an event with the name ${Name}, which is a misspelt OrderCreated`, async () => {
      await consume(entry({ ...envelope, Name }))
      expect(tested.sidecar.published[0]?.headers).to.include({ 'deadletter-reason': 'unknown-event' })
      expect(tested.sidecar.published[0]?.headers['deadletter-detail']).to.contain('write OrderCreated')
    })
  }

  it('publishes a smaller dead letter if the dead-letter topic refuses the complete dead letter', async () => {
    tested.sidecar.failures.publish.push(new SidecarError('publish', new Error('message was too large'), 'refused'))
    expect(await consume(entry('{'))).to.deep.equal(['SUCCESS'])
    expect(reasons()).to.deep.equal(['not-json'])
  })

  it('makes a dead letter of a record without a value (a tombstone)', async () => {
    await consume(entry(null, ''))
    const [deadLetter] = tested.sidecar.published
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
    expect(tested.sidecar.published[0]?.key).to.equal(undefined)
    expect(tested.sidecar.published[0]?.headers)
      .to.include({ 'deadletter-key': '%ff%00' })
      .and.not.to.have.property('traceparent')
    const traced = entry('{')
    traced.metadata.traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await consume(traced)
    expect(tested.sidecar.published[1]?.headers).to.include({ traceparent: traced.metadata.traceparent })
    traced.metadata.tracestate = 'shop%3D1%2Cother%3D2'
    traced.metadata.traceparent = '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more'
    await consume(traced)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    expect(tested.sidecar.published[2]?.headers).to.include({ traceparent, tracestate: 'shop=1,other=2' })
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
