import { expect } from 'chai'
import { binaryMessage, cloudEventOf, type ReceivedEnvelope, toCloudEvent } from '../src/index.ts'
import { bytesOf, errorOf, reduced } from './support/documents.ts'

const origin = { topic: 'orderevents', partition: 0, offset: 7 }
const complete = () => reduced() as unknown as ReceivedEnvelope

describe('structuredMessage, binaryMessage and cloudEventOf', () => {
  const event = { specversion: '1.0' as const, id: '1', source: '/', type: 't', data: { a: 1 } }

  it('writes attributes as headers, unchanged for Kafka and in visible ASCII for HTTP', () => {
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

  it('recognizes structured mode by the content type, in upper or lower case and with parameters', () => {
    const body = bytesOf(event)
    for (const type of ['application/cloudevents+json', 'Application/CloudEvents+JSON ; charset=utf-8'])
      expect(cloudEventOf({ headers: { 'content-type': type }, body }, 'http'), type).to.deep.equal(event)
  })

  it('keeps the content type of the data, and ignores headers that are not attributes', () => {
    const headers = { ce_specversion: '1.0', ce_id: '1', ce_source: '/', ce_type: 't' }
    const others = { 'x-ce_id': '2', 'content-type': 'application/json; charset=utf-8' }
    const body = bytesOf('{"a":1}')
    expect(cloudEventOf({ headers, body }, 'kafka')).to.deep.equal(event)
    const read = cloudEventOf({ headers: { ...headers, ...others }, body }, 'kafka')
    expect(read).to.deep.equal({ ...event, datacontenttype: 'application/json' })
  })

  it('accepts HTTP headers in quotes, and percent signs that encode no character', () => {
    const read = (subject: string) => {
      const headers = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/', 'ce-type': 't', 'ce-subject': subject }
      return cloudEventOf({ headers, body: bytesOf('{}') }, 'http').subject
    }
    expect(['"a b"', 'a"b"', '"a"b', '5%4', '%C3%A9'].map(read)).to.deep.equal(['a b', 'a"b"', '"a"b', '5%4', 'é'])
  })
})

describe('the data of a CloudEvent', () => {
  const headers = { ce_specversion: '1.0', ce_id: '1', ce_source: '/', ce_type: 't' }
  const body = bytesOf('{"a":1}')
  const structured = (event: object) =>
    cloudEventOf(
      {
        headers: { 'content-type': 'application/cloudevents+json' },
        body: bytesOf({ specversion: '1.0', id: '1', source: '/', type: 't', ...event }),
      },
      'kafka',
    )

  it('comes from the body in binary mode, even if a header has the name of the attribute data', () => {
    const encoded = Buffer.from('{"a":2}').toString('base64')
    const read = cloudEventOf({ headers: { ...headers, ce_data_base64: encoded, ce_data: '{"a":3}' }, body }, 'kafka')
    expect(read).to.deep.equal({ specversion: '1.0', id: '1', source: '/', type: 't', data: { a: 1 } })
    const other = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/', 'ce-type': 't', 'ce-data_base64': encoded }
    expect(cloudEventOf({ headers: other, body }, 'http')).to.deep.equal(read)
  })

  it('distinguishes an empty body from the body null in binary mode', () => {
    expect(cloudEventOf({ headers, body: new Uint8Array() }, 'kafka')).not.to.have.property('data')
    expect(cloudEventOf({ headers, body: bytesOf('null') }, 'kafka')).to.have.property('data', null)
  })

  it('stays absent or null in structured mode, as in the message', () => {
    expect(structured({})).not.to.have.property('data')
    expect(structured({ data: null })).to.have.property('data', null)
    expect(structured({ data: { a: 1 }, data_base64: null })).to.deep.include({ data: { a: 1 } })
  })

  it('rejects an event that has both data and data_base64 in structured mode, and rejects invalid base64', () => {
    const refusalOf = (event: object) => errorOf(() => structured(event)).problems.map(({ message }) => message)
    expect(refusalOf({ data: 1, data_base64: 'MQ==' })).to.deep.equal(['has both data and data_base64'])
    for (const data_base64 of [1, {}, '???', 'MQ=', 'M'])
      expect(refusalOf({ data_base64 }), `${data_base64}`).to.deep.equal(['has data_base64 that is not base64'])
  })

  it('becomes an empty body if it is absent', () => {
    expect(binaryMessage({ specversion: '1.0', id: '1', source: '/', type: 't' }, 'kafka').body).to.equal('')
  })
})

describe('unset attributes of a CloudEvent', () => {
  const required = { specversion: '1.0' as const, id: '1', source: '/', type: 't' }

  it('treats null attributes in structured mode as absent', () => {
    const sent = { ...required, subject: null, time: null, datacontenttype: null, data: {} }
    const headers = { 'content-type': 'application/cloudevents+json' }
    expect(cloudEventOf({ headers, body: bytesOf(sent) }, 'kafka')).to.deep.equal({ ...required, data: {} })
  })

  it('skips null attributes in binary mode, both in writing and reading', () => {
    const { headers } = binaryMessage({ ...required, subject: null, time: undefined, data: {} } as never, 'kafka')
    expect(headers).not.to.have.any.keys('ce_subject', 'ce_time')
    const sent = {
      ce_specversion: '1.0',
      ce_id: '1',
      ce_source: '/',
      ce_type: 't',
      ce_subject: null,
      ce_time: undefined,
    }
    expect(cloudEventOf({ headers: sent, body: bytesOf('{}') }, 'kafka')).to.deep.equal({ ...required, data: {} })
  })

  it('keeps an attribute with the text null', () => {
    const sent = { ce_specversion: '1.0', ce_id: '1', ce_source: '/', ce_type: 't', ce_subject: 'null' }
    expect(cloudEventOf({ headers: sent, body: bytesOf('{}') }, 'kafka').subject).to.equal('null')
  })
})

describe('headers of a CloudEvent over HTTP', () => {
  const read = (subject: string, kind: 'http' | 'kafka' = 'http') => {
    const prefix = kind === 'http' ? 'ce-' : 'ce_'
    const attributes = { specversion: '1.0', id: '1', source: '/', type: 't', subject }
    const headers = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [prefix + name, value]))
    return cloudEventOf({ headers, body: bytesOf('{}') }, kind).subject
  }

  it('accepts a quoted string, in which a backslash escapes the next character', () => {
    expect(read(String.raw`"a \"b\" c"`)).to.equal('a "b" c')
    expect(read(String.raw`"a\\b"`)).to.equal(String.raw`a\b`)
    expect(read(String.raw`"\a"`)).to.equal('a')
    expect(read('""')).to.equal('')
  })

  it('decodes percent signs once, after the quotes are removed', () => {
    expect(read('"Euro%20%E2%82%AC %F0%9F%98%80"')).to.equal('Euro € 😀')
    expect(read('%22a%22')).to.equal('"a"')
    expect(read('%2541')).to.equal('%41')
  })

  it('keeps a backslash that is outside quotes, and keeps quotes inside the text', () => {
    for (const text of [String.raw`a\"b`, '"a"b"', String.raw`"a\"`, '"']) expect(read(text), text).to.equal(text)
  })

  it('reads quotes and percent signs unchanged if the headers come over Kafka', () => {
    for (const text of ['"a"', String.raw`"a\"b"`, '%41', 'é']) expect(read(text, 'kafka'), text).to.equal(text)
  })
})

describe('cloudEventOf for invalid messages', () => {
  const json = (document: unknown) => ({
    headers: { 'content-type': 'application/cloudevents+json' },
    body: bytesOf(document),
  })
  const everyone = 'every CloudEvent has one'
  const none = ['is not a CloudEvent', 'give the header ce_specversion, or content-type: application/cloudevents+json']
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
    it(`rejects a message ${what}`, () => {
      const { code, problems } = errorOf(() => cloudEventOf(message as ReturnType<typeof json>, 'kafka'))
      const [{ pointer, message: said, hint } = { pointer: undefined, message: undefined, hint: undefined }] = problems
      expect([code, problems.length, pointer, said, hint]).to.deep.equal(['not-an-envelope', 1, '', ...problem])
    })
  }

  it('rejects a header with bytes that are not UTF-8', () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': '%ff', 'ce-source': '/', 'ce-type': 't' }
    const { problems } = errorOf(() => cloudEventOf({ headers, body: bytesOf('{}') }, 'http'))
    expect(problems).to.deep.equal([
      { pointer: '', message: 'has a header that is not UTF-8', hint: 'percent-encode the UTF-8 bytes of a text' },
    ])
  })

  it('accepts data in base64, and percent signs that encode no character', () => {
    const { specversion, id, source, type } = toCloudEvent(complete(), origin)
    const encoded = { specversion, id, source, type, data_base64: Buffer.from('{"a":1}').toString('base64') }
    expect(cloudEventOf(json(encoded), 'kafka').data).to.deep.equal({ a: 1 })
    const headers = { 'ce-specversion': '1.0', 'ce-id': '100%', 'ce-source': '/', 'ce-type': '"a%20b"' }
    expect(cloudEventOf({ headers, body: bytesOf('{}') }, 'http')).to.include({ id: '100%', type: 'a b' })
  })
})
