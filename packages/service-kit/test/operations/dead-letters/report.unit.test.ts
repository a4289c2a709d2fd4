import { randomUUID } from 'node:crypto'
import { completeEnvelope, type ReceivedEnvelope } from '@orderflow/envelope'
import { expect } from 'chai'
import fc from 'fast-check'
import { newestAttempt, readDeadLetters } from '../../../src/operations/dead-letters/entries.ts'
import { readEvent } from '../../../src/operations/dead-letters/records.ts'
import { entryLines, shownValue } from '../../../src/operations/dead-letters/report.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { bytesOf, event, fail } from './records.ts'

describe('entryLines', () => {
  it('shows the problems of an event, but not the event’s values', async () => {
    const log = new FakeLog()
    fail(log, 'order-service', 1)
    const detail = JSON.stringify([{ pointer: '/Payload/Total', message: 'must be a number' }])
    const shown = {
      detail,
      key: Buffer.from('SECRET-KEY'),
      value: bytesOf(event),
      headers: [],
      arrivedAt: 0,
      appendedAt: 0,
    }
    const [entry] = (await readDeadLetters(log)).entries
    const text = entry ? entryLines(entry, shown, false).join('\n') : ''
    expect(text).to.contain('/Payload/Total must be a number').and.to.contain(event.Payload.OrderId)
    expect(text).not.to.contain('SECRET').and.not.to.contain('Lovelace')
    expect(entry && entryLines(entry, shown, true).join('\n')).to.contain('SECRET-TAX-ID')
  })

  it('shows the ids that traces and logs use for an event, even if the ids are derived', async () => {
    const log = new FakeLog()
    fail(log, 'order-service', 1)
    const [entry] = (await readDeadLetters(log)).entries
    const linesOf = (value: Buffer | undefined) => {
      const shown = { detail: 'd', key: undefined, value, headers: [], arrivedAt: 0, appendedAt: 0 }
      return entry ? entryLines(entry, shown, false) : []
    }
    const ids = { TraceId: randomUUID(), CorrelationId: randomUUID() }
    expect(linesOf(bytesOf({ ...event, ...ids }))).to.include(
      `trace ${ids.TraceId}, search logs for ${ids.CorrelationId}`,
    )
    for (const value of [Buffer.from('{'), undefined]) {
      const { TraceId: given } = completeEnvelope({} as ReceivedEnvelope, { value: value ?? Buffer.alloc(0) })
      expect(linesOf(value)).to.include(`trace ${given}, search logs for ${given}`)
    }
  })

  it('shows the message of a bug without the parts that quote the event', async () => {
    const log = new FakeLog()
    fail(log, 'order-service', 1)
    const [entry] = (await readDeadLetters(log)).entries
    const shown = {
      detail: 'TypeError: no SECRET-TAX-ID',
      key: undefined,
      value: bytesOf(event),
      headers: [],
      arrivedAt: 0,
      appendedAt: 0,
    }
    const text = entry ? entryLines(entry, shown, false).join('\n') : ''
    expect(text).to.contain('TypeError: no ***').and.not.to.contain('SECRET')
    expect(entry && entryLines(entry, shown, true).join('\n')).to.contain('TypeError: no SECRET-TAX-ID')
  })

  it('shows the event from the log if the dead letter does not contain it, and reports a deleted event', async () => {
    const log = new FakeLog()
    for (const isThere of [false, true]) {
      fail(log, 'order-service', 0, 'handler-error', { value: bytesOf(event), isCut: true })
      if (isThere) log.append({ topic: 'orderevents', timestamp: 0, value: bytesOf(event) })
      const [entry] = (await readDeadLetters(log)).entries
      const found = entry && (await readEvent(log, newestAttempt(entry)))
      const text = entry ? entryLines(entry, found, false).join('\n') : ''
      expect(text).to.contain(isThere ? event.Payload.OrderId : '(the log has deleted the event')
    }
  })

  it('shows a key if it is a GUID, in any usual spelling', async () => {
    const log = new FakeLog()
    fail(log, 'order-service', 1)
    const [entry] = (await readDeadLetters(log)).entries
    const key = `{${randomUUID()}}`
    const shown = {
      ...{ detail: 'd', key: Buffer.from(key), value: bytesOf(event), headers: [], arrivedAt: 0, appendedAt: 0 },
    }
    expect(entry && entryLines(entry, shown, false)).to.include(`key ${key}`)
  })

  it('shows the bytes of a binary key', async () => {
    const log = new FakeLog()
    fail(log, 'order-service', 1)
    const [entry] = (await readDeadLetters(log)).entries
    const shown = {
      detail: 'd',
      key: Buffer.from([0xff, 0x00]),
      value: bytesOf(event),
      headers: [],
      arrivedAt: 0,
      appendedAt: 0,
    }
    expect(entry && entryLines(entry, shown, true).join('\n')).to.contain('key 0xff00')
  })
})

describe('shownValue', () => {
  it('masks a tax id in a field whose name is not in the contract', () => {
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom('customer_tax_id', 'CustomerTaxID', 'taxid', 'Payload', 'Note', '0'),
    )
    const document = fc.letrec((tie) => ({
      value: fc.oneof(fc.constant('SECRET-TAX-ID'), fc.constant(987654321), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(names, tie('value'), { maxKeys: 3 }),
    })).value
    const property = fc.property(document, fc.constantFrom('', ' ', '}'), (value, damage) => {
      const shown = shownValue(Buffer.from(JSON.stringify(value) + damage), false)
      expect(shown).not.to.contain('SECRET').and.not.to.contain('987654321')
    })
    fc.assert(property)
  })

  it('shows ids, numbers, dates, known words and names of things, and masks all other text', () => {
    const OrderId = 'c1d5a0e2-4f6b-4a3c-8e7d-9b0a1c2d3e4f'
    const Payload = {
      ...{ OrderId, PaymentId: 'masked', Total: '1', Amount: 1, Source: 'Manual', Policy: 'by-hand@1' },
      ...{ CustomerName: 'masked', CustomerTaxId: 'masked', Reason: 'masked', Note: 'masked', Version: 'masked' },
    }
    const shown = shownValue(bytesOf({ ...event, TenantUserID: 'masked', Payload }), false)
    for (const text of [OrderId, '"1"', 'Manual', 'by-hand@1', event.AppName, event.CreationDate]) {
      expect(shown).to.contain(text)
    }
    expect(shown).not.to.contain('masked')
  })

  it('shows the names of fields, and masks names with spaces or punctuation', () => {
    const shown = shownValue(bytesOf({ customer_tax_id: 1, 'masked, GB-1': 2, 'masked 2': { Total: 3 } }), false)
    expect(shown).to.contain('"customer_tax_id"').and.to.contain('"Total": 3').and.not.to.contain('masked')
  })

  it('keeps repeated keys and all digits of numbers if values are shown', () => {
    const exact = '{"Total":12345678901234567890,"Total":1}'
    expect(shownValue(Buffer.from(exact), true)).to.equal(exact)
    expect(shownValue(Buffer.from('{"a":[1]}'), true)).to.equal('{\n  "a": [\n    1\n  ]\n}')
  })

  for (const [what, value] of Object.entries({
    'deeply nested text': '['.repeat(100_000),
    'deeply nested JSON': '['.repeat(100_000) + ']'.repeat(100_000),
    'binary data': Buffer.from([0xff, 0x00, 0x1b]),
    'a tombstone': '',
  })) {
    it(`describes bytes that it cannot show: ${what}`, () => {
      expect(shownValue(Buffer.from(value as string), false)).to.match(/^\(/)
      expect(() => shownValue(Buffer.from(value as string), true)).not.to.throw()
    })
  }
})
