import { expect } from 'chai'
import { binaryMessage, cloudEventOf, type ReceivedEnvelope, toCloudEvent } from '../src/index.ts'
import { bytesOf, errorOf, reduced } from './support/documents.ts'

const origin = { topic: 'orderevents', partition: 0, offset: 7 }
const complete = () => reduced() as unknown as ReceivedEnvelope

describe('a message of a CloudEvent', () => {
  const event = { specversion: '1.0' as const, id: '1', source: '/', type: 't', data: { a: 1 } }

  it('has its attributes as headers, of Kafka as they are, of HTTP in visible ASCII', () => {
    const subject = 'é "100%" ~!'
    expect(binaryMessage({ ...event, subject, datacontenttype: 'text/json' }, 'kafka')).to.deep.equal({
      headers: {
        ...{ ce_specversion: '1.0', ce_id: '1', ce_source: '/', ce_type: 't', ce_subject: subject },
        'content-type': 'text/json',
      },
      body: '{"a":1}',
    })
    const { headers } = binaryMessage({ ...event, subject }, 'http')
    expect(headers).to.deep.equal({
      ...{ 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/', 'ce-type': 't' },
      'ce-subject': '%C3%A9%20%22100%25%22%20~!',
      'content-type': 'application/json',
    })
  })

  it('is known by the type of its content, whatever else that says', () => {
    const body = bytesOf(event)
    for (const type of ['application/cloudevents+json', 'Application/CloudEvents+JSON ; charset=utf-8'])
      expect(cloudEventOf({ headers: { 'content-type': type }, body }, 'http'), type).to.deep.equal(event)
  })

  it('keeps the type of its data, and of its headers only the attributes', () => {
    const headers = { ce_specversion: '1.0', ce_id: '1', ce_source: '/', ce_type: 't' }
    const others = { 'x-ce_id': '2', 'content-type': 'application/json; charset=utf-8' }
    const body = bytesOf('{"a":1}')
    expect(cloudEventOf({ headers, body }, 'kafka')).to.deep.equal(event)
    const read = cloudEventOf({ headers: { ...headers, ...others }, body }, 'kafka')
    expect(read).to.deep.equal({ ...event, datacontenttype: 'application/json' })
  })

  it('may have quotes around a header of HTTP, and signs in it that encode nothing', () => {
    const read = (subject: string) => {
      const headers = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/', 'ce-type': 't', 'ce-subject': subject }
      return cloudEventOf({ headers, body: bytesOf('{}') }, 'http').subject
    }
    expect(['"a b"', 'a"b"', '"a"b', '5%4', '%C3%A9'].map(read)).to.deep.equal(['a b', 'a"b"', '"a"b', '5%4', 'é'])
  })
})

describe('a message that is no CloudEvent', () => {
  const json = (document: unknown) => ({
    headers: { 'content-type': 'application/cloudevents+json' },
    body: bytesOf(document),
  })
  const everyone = 'every CloudEvent has one'
  const none = ['is no CloudEvent', 'give the header ce_specversion, or content-type: application/cloudevents+json']
  for (const [what, [message, ...problem]] of Object.entries({
    'without its headers': [{ headers: { 'content-type': 'application/json' }, body: bytesOf('{}') }, ...none],
    'without any header': [{ headers: {}, body: bytesOf('{}') }, ...none],
    'that is a list': [json([]), 'has no id', everyone],
    'without a type': [json({ specversion: '1.0', id: '1', source: '/' }), 'has no type', everyone],
    'with an empty source': [json({ specversion: '1.0', id: '1', source: '', type: 't' }), 'has no source', everyone],
    'of another version': [
      json({ specversion: '0.3', id: '1', source: '/', type: 't' }),
      'is a CloudEvent of another version',
      'send specversion 1.0',
    ],
  })) {
    it(`is refused: one ${what}`, () => {
      const { code, problems } = errorOf(() => cloudEventOf(message as ReturnType<typeof json>, 'kafka'))
      const [{ pointer, message: said, hint } = { pointer: undefined, message: undefined, hint: undefined }] = problems
      expect([code, problems.length, pointer, said, hint]).to.deep.equal(['not-an-envelope', 1, '', ...problem])
    })
  }

  it('is refused when a header holds bytes that are no UTF-8', () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': '%ff', 'ce-source': '/', 'ce-type': 't' }
    const { problems } = errorOf(() => cloudEventOf({ headers, body: bytesOf('{}') }, 'http'))
    expect(problems).to.deep.equal([
      { pointer: '', message: 'has a header that is no UTF-8', hint: 'percent-encode the UTF-8 bytes of a text' },
    ])
  })

  it('may hold its data in base64, and percent signs that encode nothing', () => {
    const { specversion, id, source, type } = toCloudEvent(complete(), origin)
    const encoded = { specversion, id, source, type, data_base64: Buffer.from('{"a":1}').toString('base64') }
    expect(cloudEventOf(json(encoded), 'kafka').data).to.deep.equal({ a: 1 })
    const headers = { 'ce-specversion': '1.0', 'ce-id': '100%', 'ce-source': '/', 'ce-type': '"a%20b"' }
    expect(cloudEventOf({ headers, body: bytesOf('{}') }, 'http')).to.include({ id: '100%', type: 'a b' })
  })
})
