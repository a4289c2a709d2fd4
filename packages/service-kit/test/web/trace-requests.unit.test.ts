import { expect } from 'chai'
import { spanContextIn } from '../../src/telemetry/context.ts'
import { recordedSpans } from '../support/recorded-spans.ts'
import { call, type Sent } from './support/call.ts'
import { thingId, thingsApp } from './support/things.ts'

const header = (flags: string) => `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`
const personal = 'Ada-Lovelace'

describe('traces of requests', () => {
  let { tracing, spans } = recordedSpans()
  let failure: Error | undefined
  beforeEach(() => {
    ;({ tracing, spans } = recordedSpans())
    failure = undefined
  })
  const get = async () => {
    if (failure) throw failure
    return { orderId: thingId, amount: 1 }
  }
  async function spanOf(path: string, sent: Sent = {}) {
    const { app, records } = thingsApp(get, undefined, { tracing })
    await call(app, path, sent)
    const [span, ...more] = spans()
    expect(more).to.deep.equal([])
    return { span, records }
  }

  it('the tracer records a span for each request, named after the route', async () => {
    const { span } = await spanOf(`/v1/things/${thingId}?name=${personal}`, { headers: { traceparent: header('01') } })
    expect(span).to.include({ name: 'GET /v1/things/{id}', kind: 'server', isError: false })
    const { traceId, spanId } = spanContextIn(header('01')) ?? {}
    expect(span).to.include({ traceId, parent: spanId })
    expect(span?.attributes).to.deep.equal({
      'http.request.method': 'GET',
      // The status is 400, because unknown query parameters are refused.
      'http.response.status_code': 400,
      'http.route': '/v1/things/{id}',
      'network.protocol.version': '1.1',
      'url.path': `/v1/things/${thingId}`,
      'url.scheme': 'http',
    })
  })

  it('the tracer begins a new trace for a request without a traceparent', async () => {
    const { span } = await spanOf('/v1/things')
    expect(span?.parent).to.equal(undefined)
    expect(span?.traceId).to.match(/^[0-9a-f]{32}$/)
  })

  it('the tracer follows the client’s decision whether to record the trace', async () => {
    expect((await spanOf('/v1/things', { headers: { traceparent: header('00') } })).span).to.equal(undefined)
  })

  const refused: [path: string, sent: Sent, name: string, status: number][] = [
    [`/v1/things/${personal}`, {}, 'GET /v1/things/{id}', 400],
    [`/${personal}`, {}, 'GET', 404],
    ['/v1/things', { method: 'DELETE' }, 'DELETE /v1/things', 405],
    ['/v1/things', { method: 'PROPFIND' }, 'HTTP /v1/things', 405],
    ['/v1/things', { method: 'POST', headers: { origin: 'https://evil.example' } }, 'POST', 403],
  ]
  for (const [path, sent, name, status] of refused) {
    it(`records the refused request ${sent.method ?? 'GET'} ${path} as "${name}" with status ${status}`, async () => {
      const { span } = await spanOf(path, sent)
      expect(span).to.include({ name, isError: false })
      expect(span?.attributes).to.include({ 'http.response.status_code': status })
      expect(JSON.stringify(span)).not.to.contain(personal)
    })
  }

  it('the span of a failed request has an error, but no more data than the log', async () => {
    failure = new Error(`no ${personal} here`)
    const { span, records } = await spanOf(`/v1/things/${thingId}`)
    expect(span).to.include({ isError: true, message: undefined })
    expect(span?.attributes).to.include({ 'error.type': '500' })
    expect(records[0])
      .to.have.property('traceId')
      .that.matches(/^[0-9a-f-]{36}$/)
  })

  it('the tracer leaves out requests for health probes, pages and documents', async () => {
    for (const path of ['/livez', '/readyz', '/openapi.json', '/docs/', '/']) {
      expect((await spanOf(path)).span).to.equal(undefined)
    }
  })
})
