import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { SidecarError, UncertainError } from '../../src/sidecar/sidecar.ts'
import { notFound } from '../../src/web/problems.ts'
import { call, post } from './support/call.ts'
import { thingId, thingRoutes, thingsApp } from './support/things.ts'

class DomainError extends Error {
  readonly code: string
  readonly details: unknown
  constructor(code: string, message: string, details?: unknown) {
    super(message)
    this.code = code
    this.details = details
  }
}

describe('problemHandler', () => {
  const path = `/v1/things/${thingId}`
  /** Returns the answer and the log for a handler that throws this error. */
  async function thrown(error: unknown) {
    const { app, records } = thingsApp(() => Promise.reject(error))
    return { ...(await call(app, path)), records }
  }

  it('answers an error of the domain with the status of its code, and with its message and details', async () => {
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

  /** Returns the answer and the log for an operation that receives this body and throws this error. */
  async function thrownOver(body: object, error: unknown) {
    const [make, ...others] = thingRoutes()
    if (!make) throw new Error('no routes')
    const { app, records } = thingsApp(undefined, [{ ...make, handle: () => Promise.reject(error) }, ...others])
    return { ...(await post(app, '/v1/things', JSON.stringify(body))), records }
  }
  const personal = { customerName: 'SECRET NAME', list: [{ note: 'SECRET NOTE' }] }

  it('masks personal data of the request in an error of the domain', async () => {
    const details = { thingId, customerName: 'SECRET', nested: [{ buyer_customer_tax_id: 'SECRET' }] }
    const error = new DomainError('too-heavy', 'SECRET NAME with its secret-note is too heavy', details)
    const { text, json } = await thrownOver(personal, error)
    expect([json.detail, json.thingId]).to.deep.equal(['*** *** with its ***-*** is too heavy', thingId])
    expect(text).not.to.match(/secret/i)
  })

  it('masks personal data of the request in the log of a bug', async () => {
    const { text, records } = await thrownOver(personal, new TypeError('no SECRET', { cause: new Error('NAME') }))
    expect(text + JSON.stringify(records)).not.to.match(/SECRET|NAME|NOTE/)
    expect(records[0]).to.have.nested.property('err.message', 'no ***: ***')
  })

  it('shows only GUIDs and the words of known operations in a path, and hides the query', async () => {
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
    'an error with an unknown code': new DomainError('ENOENT', '/etc/s3cret'),
    'an error whose code is a property of every object': new DomainError('constructor', 's3cret'),
    'a thrown object': { code: 'too-heavy', message: 's3cret' },
    'an error that contains secrets': Object.assign(new Error('mongodb://user:s3cret@host'), { body: 's3cret' }),
  })) {
    it(`answers ${what} with a 500 that shows no internals, and logs the error`, async () => {
      const { status, text, records } = await thrown(error)
      expect(status).to.equal(500)
      expect(text).not.to.match(/s3cret|at |\.ts/)
      expect(records.map(({ level, path }) => [level, path])).to.deep.equal([['error', path]])
    })
  }

  it('answers 503 with the object’s id if it is unknown whether the object was made', async () => {
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

  it('answers an overload with 503 and Retry-After', async () => {
    const { status, headers, text, json } = await thrown(new OverloadError('10000 items are already waiting'))
    expect([status, json.type, headers['retry-after']]).to.deep.equal([503, 'urn:orderflow:problem:unavailable', '1'])
    expect(text).not.to.match(/10000|at |\.ts/)
  })

  it('answers an invalid cursor with 400, and names the parameter', async () => {
    const { status, json } = await thrown(new DomainError('cursor', 'x'))
    expect([status, (json.errors as { pointer: string }[])[0]?.pointer]).to.deep.equal([400, 'cursor'])
  })

  it('answers with the problem itself if a handler throws a problem', async () => {
    const { status, json } = await thrown(notFound('Thing', 'There is no thing.'))
    expect([status, json.title]).to.deep.equal([404, 'Thing not found'])
  })

  it('answers a path that cannot be decoded with 400', async () => {
    expect((await call(thingsApp().app, '/v1/things/%zz')).status).to.equal(400)
  })

  it('closes the connection after an error in an answer that has begun, and logs the error', async () => {
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
