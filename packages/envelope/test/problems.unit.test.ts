import { expect } from 'chai'
import { createEnvelope, describeProblem, eventTypes, parseEvent } from '../src/index.ts'
import { sharedAjv } from '../src/validation/ajv.ts'
import { toProblems } from '../src/validation/problems.ts'
import { app, bytesOf, errorOf, orderCreated, orderId, reduced } from './support/documents.ts'

const problemsOf = (document: unknown) => errorOf(() => parseEvent(bytesOf(document))).problems.map(describeProblem)
const payment = { PaymentId: orderId, OrderId: orderId, Amount: 1, Policy: 'p@1', Source: 'Manual' }

const knownEvents = new Set(eventTypes.map((type) => type.replace(/@\d+$/, '')))

describe('problems of a document', () => {
  it('explains the first thousand invalid items of a list', () => {
    const validate = sharedAjv().compile({ type: 'array', items: { type: 'string' } })
    validate(Array(100_000).fill(0))
    const problems = toProblems(validate.errors ?? [], '/Payload/Rooms')
    expect(problems).to.have.length(1_000)
    expect(problems[999]).to.deep.equal({ pointer: '/Payload/Rooms/999', message: 'must be a string, not a number' })
  })

  const broken: Record<string, [changes: Record<string, unknown>, problem: string]> = {
    'a GUID': [{ AppId: 'x' }, '/AppId must be a GUID: hex digits, 8-4-4-4-12'],
    'a date-time': [
      { CreationDate: 'x' },
      '/CreationDate must be an ISO 8601 date-time with an offset, such as 2026-01-31T12:00:00Z',
    ],
    'a text that can be seen': [{ AppName: ' ' }, '/AppName must not be blank'],
    'a text': [{ AppName: '' }, '/AppName must not be empty'],
    'a short text': [{ AppName: 'x'.repeat(201) }, '/AppName must have at most 200 characters'],
    'a positive number': [{ Version: 0 }, '/Version must be at least 1'],
    'a small number': [{ Version: 2 ** 31 }, '/Version must be at most 2147483647'],
    'a whole number': [{ Version: 1.5 }, '/Version must be a whole number, not a fraction'],
    'a number, and not a list': [{ Version: [] }, '/Version must be a whole number, not a list'],
    'a number, and not null': [{ Version: null }, '/Version must be a whole number, not null'],
    'a number, and not an object': [{ Version: {} }, '/Version must be a whole number, not an object'],
    'a number, and not a boolean': [{ Version: true }, '/Version must be a whole number, not a boolean'],
    'a text, and not a number': [{ Name: 7 }, '/Name must be a string, not a number'],
    'an object': [{ Payload: 'x' }, '/Payload must be an object, not a string'],
    'one of some words': [
      { Name: 'PaymentApproved', Payload: { ...payment, Source: 'x' } },
      '/Payload/Source must be one of: OrderCreated, Manual',
    ],
    'an event that is known': [
      { Name: 'ParcelSent' },
      `/Name is not a known event (known events: ${[...knownEvents].toSorted().join(', ')})`,
    ],
  }
  for (const [what, [changes, problem]] of Object.entries(broken)) {
    it(`states that a field must be ${what}`, () => {
      expect(problemsOf(reduced(changes))).to.deep.equal([problem])
    })
  }

  it('names NaN or Infinity for a number that JSON cannot write', () => {
    const payload = { ...orderCreated, Total: Number.NaN }
    const create = () => createEnvelope({ app, type: 'OrderCreated@1', payload, creationDate: new Date() })
    expect(errorOf(create).problems.map(describeProblem)).to.deep.equal([
      '/Payload/Total must be a number, not NaN or Infinity',
    ])
  })

  it('reports only the Version if its type is wrong, because the Version decides how to read the Payload', () => {
    const hint = 'send it without quotes: 1, not "1"; in Java and C# declare the field as int, not as a string'
    const problem = `/Version must be a whole number, not a string (${hint})`
    expect(problemsOf(reduced({ Version: '1', Payload: {} }))).to.deep.equal([problem])
  })

  it('names the setting of Kafka Connect that writes only the envelope', () => {
    const schema = { type: 'struct', optional: false, fields: [] }
    const what = 'the document is a Kafka Connect record with its schema, not an envelope'
    const hint = 'set value.converter.schemas.enable=false in the connector'
    expect(problemsOf({ schema, payload: reduced() })).to.deep.equal([`${what} (${hint})`])
    const text =
      'set value.converter=org.apache.kafka.connect.storage.StringConverter in the connector, since its payload is a text'
    expect(problemsOf({ schema: { type: 'string' }, payload: JSON.stringify(reduced()) })).to.deep.equal([
      `${what} (${text})`,
    ])
  })

  it('names no setting of Kafka Connect if a document has other fields than schema and payload', () => {
    expect(() => parseEvent(bytesOf({ ...reduced(), schema: {}, payload: {} }))).not.to.throw()
    expect(problemsOf({ payload: {} })).to.include('/Payload is missing (rename payload to Payload)')
    expect(problemsOf({ ...reduced({ Payload: undefined }), schema: {}, payload: {} })).to.deep.equal([
      '/Payload is missing (rename payload to Payload)',
    ])
  })

  it('describes a problem of the whole document with an empty pointer', () => {
    const cloudEvent = 'send the envelope itself as the Kafka value, not a CloudEvent (Dapr: metadata.rawPayload=true)'
    expect(problemsOf({ specversion: '1.0' })).to.deep.equal([
      `the document is a CloudEvent, not an envelope (${cloudEvent})`,
    ])
    expect(problemsOf('')).to.deep.equal(['the document is empty (an empty value is a tombstone, not an event)'])
    const notPortable = 'leave it out: not every language and database can hold it'
    expect(problemsOf('"\\u0000"')).to.deep.equal([
      `the document has U+0000 or a lone surrogate in a text or key (${notPortable})`,
    ])
    expect(problemsOf('1e400')).to.deep.equal(['the document has a number that is too large for a 64-bit double'])
  })

  it('names the position at which bytes are not JSON', () => {
    expect(problemsOf(`${'\n'.repeat(11)}${' '.repeat(20)}{"a" 1}`)).to.deep.equal([
      'the document is not JSON: see position 36 (line 12, column 26)',
    ])
    expect(problemsOf('{"a":')).to.deep.equal(['the document is not JSON: the text ends too early'])
    expect(problemsOf('nope')).to.deep.equal(['the document is not JSON'])
    expect(errorOf(() => parseEvent(Uint8Array.of(0xff))).problems.map(describeProblem)).to.deep.equal([
      'the document is not UTF-8 text (encode the JSON text as UTF-8)',
    ])
  })
})
