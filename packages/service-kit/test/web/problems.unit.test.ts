import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { SidecarError, UncertainError } from '../../src/sidecar/sidecar.ts'
import { notFound } from '../../src/web/problems.ts'
import { call, post } from './support/call.ts'
import { thingId, thingRoutes, thingsApp } from './support/things.ts'

/** An error as a domain throws it. */
class DomainError extends Error {
  readonly code: string
  readonly details: unknown
  constructor(code: string, message: string, details?: unknown) {
    super(message)
    this.code = code
    this.details = details
  }
}

describe('what is thrown', () => {
  const path = `/v1/things/${thingId}`
  /** The answer, and what was logged, when a handler throws this. */
  async function thrown(error: unknown) {
    const { app, records } = thingsApp(() => Promise.reject(error))
    return { ...(await call(app, path)), records }
  }

  it('by the domain becomes the problem that its code stands for, with its words and details', async () => {
    const error = new DomainError('too-heavy', 'It weighs 3 t. Take a part of it.', { thingId, status: 'Whole' })
    const { status, headers, json, records } = await thrown(error)
    expect(headers['content-type']).to.match(/^application\/problem\+json/)
    expect(json).to.deep.equal({
      type: 'urn:orderflow:problem:too-heavy',
      title: 'The thing is too heavy',
      status: 409,
      detail: 'It weighs 3 t. Take a part of it.',
      instance: path,
      thingId,
    })
    expect([status, records]).to.deep.equal([409, []])
  })

  /** The answer, and what was logged, when making a thing of this body throws an error. */
  async function thrownOver(body: object, error: unknown) {
    const [make, ...others] = thingRoutes()
    if (!make) throw new Error('no routes')
    const { app, records } = thingsApp(undefined, [{ ...make, handle: () => Promise.reject(error) }, ...others])
    return { ...(await post(app, '/v1/things', JSON.stringify(body))), records }
  }
  const personal = { customerName: 'SECRET NAME', list: [{ note: 'SECRET NOTE' }] }

  it('by the domain says nothing personal of the request that it refuses', async () => {
    const details = { thingId, customerName: 'SECRET', nested: [{ buyer_customer_tax_id: 'SECRET' }] }
    const error = new DomainError('too-heavy', 'SECRET NAME with its secret-note is too heavy', details)
    const { text, json } = await thrownOver(personal, error)
    expect([json.detail, json.thingId]).to.deep.equal(['*** *** with its ***-*** is too heavy', thingId])
    expect(text).not.to.match(/secret/i)
  })

  it('by a bug says nothing personal of the request in the log', async () => {
    const { text, records } = await thrownOver(personal, new TypeError('no SECRET', { cause: new Error('NAME') }))
    expect(text + JSON.stringify(records)).not.to.match(/SECRET|NAME|NOTE/)
    expect(records[0]).to.have.nested.property('err.message', 'no ***: ***')
  })

  it('tells of a path only the words of its operations and GUIDs, and nothing of a query', async () => {
    for (const [method, path, shown] of [
      ['GET', '/v1/things/SECRET?customerName=SECRET', '/v1/things/***'],
      ['DELETE', '/V1/Things/SECRET', '/V1/Things/***'],
      ['GET', `/v1/things/${thingId}/SECRET`, `/v1/things/${thingId}/***`],
      ['GET', '/SECRET%20', '/***'],
    ] as const) {
      const { status, json, text } = await call(thingsApp().app, path, { method })
      expect(status).to.be.within(400, 405)
      expect(json.instance).to.equal(shown)
      expect(text, path).not.to.contain('SECRET')
    }
  })

  for (const [what, error] of Object.entries({
    'a code that is in no table': new DomainError('ENOENT', '/etc/s3cret'),
    'a code that every object has': new DomainError('constructor', 's3cret'),
    'no error': { code: 'too-heavy', message: 's3cret' },
    'an error with secrets in it': Object.assign(new Error('mongodb://user:s3cret@host'), { body: 's3cret' }),
  })) {
    it(`with ${what} is a 500 without internals, and logged`, async () => {
      const { status, text, records } = await thrown(error)
      expect(status).to.equal(500)
      expect(text).not.to.match(/s3cret|at |\.ts/)
      expect(records.map(({ level, path }) => [level, path])).to.deep.equal([['error', path]])
    })
  }

  it('because nobody knows whether it happened is a 503 that says so, with what it was about', async () => {
    const cause = new SidecarError('publish', new Error('deadline exceeded at 10.0.0.1'))
    const error = new UncertainError('It is not known whether it is made. Try again with the same key.', {
      details: { thingId },
      cause,
    })
    const { status, headers, json, text, records } = await thrown(error)
    expect([status, json.type, json.thingId, headers['retry-after']]).to.deep.equal([
      503,
      'urn:orderflow:problem:unavailable',
      thingId,
      '1',
    ])
    expect(json.detail).to.equal('It is not known whether it is made. Try again with the same key.')
    expect(text).not.to.contain('10.0.0.1')
    expect(JSON.stringify(records)).to.contain('deadline exceeded')
  })

  it('because too many wait is a 503 that says when to come again', async () => {
    const { status, headers, text, json } = await thrown(new OverloadError('10000 are waiting already'))
    expect([status, json.type, headers['retry-after']]).to.deep.equal([503, 'urn:orderflow:problem:unavailable', '1'])
    expect(text).not.to.match(/10000|at |\.ts/)
  })

  it('because of a cursor that is none of the list’s is a 400 that names it', async () => {
    const { status, json } = await thrown(new DomainError('cursor', 'x'))
    expect([status, (json.errors as { pointer: string }[])[0]?.pointer]).to.deep.equal([400, 'cursor'])
  })

  it('as a problem is that problem', async () => {
    const { status, json } = await thrown(notFound('Thing', 'There is no thing.'))
    expect([status, json.title]).to.deep.equal([404, 'Thing not found'])
  })

  it('by Express for a path that is no text is a 400', async () => {
    expect((await call(thingsApp().app, '/v1/things/%zz')).status).to.equal(400)
  })

  it('once an answer has begun breaks the connection, so that half of one is not taken for a whole, and is logged', async () => {
    const [first, ...others] = thingRoutes()
    if (!first) throw new Error('no routes')
    const late = {
      operation: { ...first.operation, method: 'get' as const, path: '/v1/late' },
      handle: async (_request: unknown, response: { write(text: string): unknown }) => {
        response.write('{"half":')
        throw new Error('too late for a problem')
      },
    }
    const { app, records } = thingsApp(undefined, [late, ...others])
    const failure = await call(app, '/v1/late').then(String, (error: NodeJS.ErrnoException) => error.code)
    expect(failure).to.equal('ECONNRESET')
    expect(records.map(({ level, path }) => [level, path])).to.deep.equal([['error', '/v1/late']])
  })
})
