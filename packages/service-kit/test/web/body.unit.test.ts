import { deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { withServer } from '../../src/testing/http.ts'
import type { Input } from '../../src/web/input.ts'
import { route } from '../../src/web/route.ts'
import { call, post } from './support/call.ts'
import { thing, thingId, thingsApp } from './support/things.ts'

const url = '/v1/things'

describe('readBody for bytes', () => {
  /** Returns an app that accepts a body of at most 4 bytes of text or JSON lines. All concurrent bodies together may have 8 bytes. */
  function bytesApp(handle: (bytes: Buffer | undefined) => Promise<void> = async () => {}) {
    const bytes: Input<Buffer | undefined> = {
      read: ({ body }) => body,
      receives: { types: ['text/plain', 'application/x-ndjson'], maxBytes: 4, maxHeldBytes: 8 },
      problems: [413, 415],
    }
    const raw = route({
      method: 'post',
      path: url,
      scope: 'things:write',
      summary: 'Take bytes',
      input: { bytes },
      answers: { 200: 'Taken.' },
      body: thing,
      async handle({ bytes }) {
        await handle(bytes)
        return { status: 200, body: { orderId: bytes?.toString('hex') ?? 'none', amount: 0 } }
      },
    })
    return thingsApp(undefined, [raw]).app
  }

  it('passes the bytes of a body to the operation unchanged', async () => {
    for (const type of ['text/plain', 'application/x-ndjson; charset=utf-8']) {
      expect((await post(bytesApp(), url, Buffer.from([0xff, 0, 0x0a]), type)).json.orderId, type).to.equal('ff000a')
    }
    expect((await call(bytesApp(), url, { method: 'POST' })).json.orderId).to.equal('none')
  })

  it('refuses other media types and names the allowed types, and refuses too many bytes even in a stream of unknown length', async () => {
    const other = await post(bytesApp(), url, '{}', 'application/json')
    expect([other.status, other.json.detail]).to.deep.equal([
      415,
      'Send Content-Type: text/plain or application/x-ndjson.',
    ])
    expect((await post(bytesApp(), url, '12345', 'text/plain')).status).to.equal(413)
    await withServer(bytesApp(), async (base) => {
      const body = new Response('12345').body
      const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body, duplex: 'half' } as RequestInit
      expect((await fetch(base + url, init)).status).to.equal(413)
    })
  })

  it('limits the bytes of all requests together, and answers 503 until one of the requests ends', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const app = bytesApp(async (bytes) => void (bytes?.[0] === 0x31 && (await held)))
    await withServer(app, async (base) => {
      const ask = (body: string) =>
        fetch(base + url, { method: 'POST', headers: { 'content-type': 'text/plain' }, body })
      const waiting = [ask('1234'), ask('1234')]
      let last: Response
      do last = await ask('2')
      while (last.status === 200)
      expect([last.status, last.headers.get('retry-after')]).to.deep.equal([503, '1'])
      release()
      for (const answer of await Promise.all(waiting)) expect(answer.status).to.equal(200)
      expect((await ask('2')).status).to.equal(200)
    })
  })
})

describe('readBody for JSON', () => {
  const { app } = thingsApp()
  const problemOf = ({ status, json }: { status: number; json: Record<string, unknown> }) => [
    status,
    String(json.type).replace('urn:orderflow:problem:', ''),
  ]

  for (const body of ['null', '"x"', '1', '[]', '"{}"']) {
    it(`reports that the body ${body} must be an object`, async () => {
      const answer = await post(app, url, body)
      expect(problemOf(answer)).to.deep.equal([400, 'invalid-request'])
      expect(answer.json.detail).to.match(/^the body must be an object, not /)
    })
  }

  it('reports a missing body', async () => {
    const { json } = await call(app, url, { method: 'POST' })
    expect(json.detail).to.equal('/orderId: is missing; /amount: is missing')
  })

  it('converts GUIDs in fields of the contract to lower case', async () => {
    const { status, json } = await post(app, url, JSON.stringify({ orderId: thingId.toUpperCase(), amount: 1 }))
    expect([status, json]).to.deep.equal([201, { orderId: thingId, amount: 1 }])
  })

  for (const [field, pointer, hint] of [
    ['Amount', '/Amount', ' (did you mean amount?)'],
    ['amout', '/amout', ' (did you mean amount?)'],
    ['order', '/order', ' (did you mean orderId?)'],
    ['other', '/other', ''],
    ['__proto__', '/__proto__', ''],
  ] as const) {
    it(`refuses the unknown field ${field}, and names the nearest field`, async () => {
      const answer = await post(app, url, `{"orderId":"${thingId}","amount":1,"${field}":2}`)
      expect(problemOf(answer)).to.deep.equal([400, 'invalid-request'])
      const detail = `is not a field of this body${hint}; the fields are: orderId, amount`
      expect(answer.json.errors).to.deep.equal([{ pointer, detail }])
    })
  }

  it('reports a misspelt field together with the missing field', async () => {
    const near = await post(app, url, JSON.stringify({ orderId: thingId, amuont: 1 }))
    expect(near.json.detail).to.match(
      /^\/amount: is missing; \/amuont: is not a field of this body \(did you mean amount\?\)/,
    )
    const otherCase = await post(app, url, JSON.stringify({ orderId: thingId, Amount: 1 }))
    expect(otherCase.json.errors).to.deep.equal([
      { pointer: '/amount', detail: 'is missing (rename Amount to amount)' },
    ])
  })

  it('hides the name of an unknown field that may be personal data', async () => {
    const { json } = await post(app, url, JSON.stringify({ orderId: thingId, amount: 1, 'Ada Lovelace': 1 }))
    expect(json.detail).to.equal(
      'the body has a field that is not a field of this body; the fields are: orderId, amount',
    )
  })

  it('refuses fields in the body of an operation without a body', async () => {
    const drop = (body: string) => post(app, `/v1/things/${thingId}/drop`, body)
    const { status, json } = await drop('{"reason":"heavy"}')
    expect([status, json.detail]).to.deep.equal([400, '/reason: is not a field of this body; the fields are: none'])
    expect((await drop('{}')).status).to.equal(200)
  })

  for (const [text, pointer] of [
    [`{"orderId":"${thingId}","amount":1,"amount":2}`, '/amount'],
    [`{"orderId":"${thingId}","amount":1,"\\u0061mount":1}`, '/amount'],
    [`{"orderId":"${thingId}","amount":1,"other":{"a":1,"a":1}}`, '/other/a'],
  ] as const) {
    it(`refuses the duplicate key ${pointer} in ${text}`, async () => {
      const answer = await post(app, url, text)
      expect(problemOf(answer)).to.deep.equal([400, 'invalid-request'])
      expect(answer.json.errors).to.deep.equal([{ pointer, detail: 'occurs twice: write each key once' }])
    })
  }

  it('hides a duplicate key that may be personal data', async () => {
    const answer = await post(app, url, '{"Ada Lovelace":1,"Ada Lovelace":2}')
    expect(problemOf(answer)).to.deep.equal([400, 'invalid-request'])
    expect(answer.json.detail).to.equal('the body has a key twice: write each key once')
    const inner = await post(app, url, '{"other":{"Ada Lovelace":1,"Ada Lovelace":2}}')
    expect(inner.json.errors).to.deep.equal([{ pointer: '/other', detail: 'has a key twice: write each key once' }])
  })

  for (const number of ['999999999999.999999', '1.0000000000000001', '-1e-400', '1e400']) {
    it(`refuses the number ${number}, which parsing would change`, async () => {
      const answer = await post(app, url, `{"orderId":"${thingId}","amount":${number}}`)
      expect(problemOf(answer)).to.deep.equal([400, 'invalid-request'])
      expect(answer.json.errors).to.have.length(1)
      expect(answer.json.detail).to.match(/^\/amount: .* at most 15 digits/)
    })
  }

  it('applies the rules for JSON also to an operation with a larger limit of bytes', async () => {
    const large: Input<unknown> = {
      read: ({ body }) => body,
      receives: { types: ['application/json'], isJson: true, maxBytes: 100_000, maxHeldBytes: 200_000 },
      problems: [400, 413, 415],
    }
    const operation = route({
      method: 'post',
      path: url,
      scope: 'things:write',
      summary: 'Take a large body',
      input: { large },
      answers: { 200: 'Taken.' },
      body: thing,
      handle: async ({ large }) => ({ status: 200, body: large as never }),
    })
    const { app } = thingsApp(undefined, [operation])
    const text = 'x'.repeat(90_000)
    expect((await post(app, url, JSON.stringify({ text }))).json).to.deep.equal({ text })
    expect(problemOf(await post(app, url, `{"text":1,"text":"${text}"}`))).to.deep.equal([400, 'invalid-request'])
    expect(problemOf(await post(app, url, '{"text"'))).to.deep.equal([400, 'not-json'])
    expect(problemOf(await post(app, url, Buffer.from([0x22, 0xff, 0x22])))).to.deep.equal([400, 'not-utf8'])
    expect((await post(app, url, JSON.stringify({ text: text + text }))).status).to.equal(413)
  })

  it('refuses bytes that are not UTF-8', async () => {
    const body = Buffer.from(`{"orderId":"${thingId}","amount":1,"name":"José"}`, 'latin1')
    const answer = await post(app, url, body)
    expect(problemOf(answer)).to.deep.equal([400, 'not-utf8'])
    expect(answer.json.detail).to.match(/UTF-8/)
  })

  for (const charset of ['iso-8859-1', 'utf-16', '"windows-1252"', 'us-ascii']) {
    it(`refuses a body with charset=${charset}`, async () => {
      const answer = await post(app, url, '{}', `application/json; charset=${charset}`)
      expect(problemOf(answer)).to.deep.equal([415, 'not-utf8'])
    })
  }

  for (const type of ['application/json; charset=UTF-8', 'application/json;charset="utf-8"', 'Application/JSON']) {
    it(`accepts a body of the type ${type}, with or without a byte order mark`, async () => {
      const body = JSON.stringify({ orderId: thingId, amount: 1 })
      for (const mark of ['', '\uFEFF']) expect((await post(app, url, mark + body, type)).status).to.equal(201)
    })
  }

  it('refuses a body whose type or text is not JSON', async () => {
    expect(problemOf(await post(app, url, 'a=b', 'application/x-www-form-urlencoded'))).to.deep.equal([415, 'not-json'])
    const answer = await post(app, url, '{"name": "Ada Lovelace"')
    expect(problemOf(answer)).to.deep.equal([400, 'not-json'])
    expect(answer.text).not.to.contain('Ada')
  })

  for (const [encoding, pack] of Object.entries({ gzip: gzipSync, deflate: deflateSync, none: Buffer.from })) {
    it(`refuses a body with the encoding ${encoding}, and explains the expected format`, async () => {
      const body = pack(JSON.stringify({ orderId: thingId, amount: 1 }))
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
      const answer = await call(app, url, { method: 'POST', headers, body })
      expect(problemOf(answer)).to.deep.equal([415, 'encoded'])
      expect(answer.headers['accept-encoding']).to.equal('identity')
      expect(answer.json.detail).to.contain('without Content-Encoding')
    })
  }

  it('reports the right problem for very deeply nested bodies', async () => {
    const depth = 32 * 1024 - 50
    const deep = '['.repeat(depth) + ']'.repeat(depth)
    expect(problemOf(await post(app, url, '['.repeat(64 * 1024)))).to.deep.equal([400, 'not-json'])
    expect(problemOf(await post(app, url, deep))).to.deep.equal([400, 'invalid-request'])
    const objects = 10_000
    const nested = `${'{"a":'.repeat(objects)}1${'}'.repeat(objects)}`
    for (const value of [deep, nested]) {
      const answer = await post(app, url, `{"orderId":"${thingId}","amount":${value}}`)
      expect(problemOf(answer)).to.deep.equal([400, 'invalid-request'])
      expect(answer.text).to.contain('/amount').and.to.have.length.below(1_000)
    }
  })

  it('treats a name that every JavaScript object has, such as `constructor`, as an unknown or missing field', async () => {
    const body = `{"__proto__":{"orderId":"${thingId}","amount":1},"constructor":{"prototype":{"amount":1}}}`
    expect((await post(app, url, body)).json.detail).to.match(
      /^\/orderId: is missing; \/amount: is missing; \/__proto__: is not a field of this body; .*; \/constructor: is not a field/,
    )
    const known = `{"orderId":"${thingId}","amount":1,"__proto__":{"admin":true},"toString":1}`
    const { errors } = (await post(app, url, known)).json as { errors: { pointer: string }[] }
    expect(errors.map(({ pointer }) => pointer)).to.deep.equal(['/__proto__', '/toString'])
    expect(Object.prototype).not.to.have.property('admin')
  })

  it('refuses a body that is larger than every valid request', async () => {
    const answer = await post(app, url, JSON.stringify({ text: 'x'.repeat(65 * 1024) }))
    expect(problemOf(answer)).to.deep.equal([413, 'too-large'])
    expect(answer.json.detail).to.equal('Send at most 65536 bytes. The request had no effect.')
  })
})
