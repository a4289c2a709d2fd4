import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { CliError } from '../../../src/base/error.ts'
import { createHttp, type HttpRequest, unreachable } from '../../../src/release/platform/http.ts'

describe('createHttp', () => {
  let server: Server
  let answers: RequestListener[]
  let seen: { method: string | undefined; authorization: string | undefined }[]
  let waits: number[]
  let url: string

  beforeEach((done) => {
    answers = []
    seen = []
    waits = []
    server = createServer((request, response) => {
      seen.push({ method: request.method, authorization: request.headers.authorization })
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      answer?.(request, response)
    }).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
      done()
    })
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  const answer =
    (status: number, headers: Record<string, string> = {}): RequestListener =>
    (_request, response) =>
      response.writeHead(status, headers).end('{}')
  const hangUp: RequestListener = (request) => request.socket.destroy()
  const send = (change: Partial<HttpRequest> = {}, timeoutMs = 5_000) =>
    createHttp({ timeoutMs, sleep: async (ms) => waits.push(ms) })({
      method: 'GET',
      url,
      headers: { Authorization: 'Bearer t' },
      idempotent: true,
      setting: 'PLATFORM_API_URL',
      ...change,
    })
  const refusal = async (change: Partial<HttpRequest> = {}, timeoutMs?: number): Promise<CliError> => {
    const error = await send(change, timeoutMs).catch((caught: unknown) => caught)
    if (error instanceof CliError) return error
    throw new Error('no error')
  }

  it('repeats a request after a 5xx or a broken connection, with increasing delays', async () => {
    answers = [answer(503), hangUp, answer(200)]
    expect((await send()).status).to.equal(200)
    expect(waits).to.deep.equal([500, 1000])
  })

  it('sends a request only once if it is not idempotent', async () => {
    answers = [answer(503)]
    expect((await send({ method: 'POST', idempotent: false })).status).to.equal(503)
    answers = [hangUp]
    expect((await refusal({ method: 'POST', idempotent: false })).message).to.include('the result is unknown')
    expect(seen).to.have.length(2)
  })

  it('repeats every request after 429, at the time of Retry-After', async () => {
    answers = [answer(429, { 'Retry-After': '7' }), answer(200)]
    expect((await send({ method: 'POST', idempotent: false })).status).to.equal(200)
    expect(waits).to.deep.equal([7000])
  })

  it('accepts a date in Retry-After, and fails if that date is too far in the future', async () => {
    answers = [answer(429, { 'Retry-After': new Date(Date.now() + 3_600_000).toUTCString() })]
    expect((await send()).status).to.equal(429)
    expect(waits).to.deep.equal([])
  })

  it('fails after four attempts', async () => {
    answers = [answer(500)]
    expect((await send()).status).to.equal(500)
    expect(seen).to.have.length(4)
  })

  it('slows down if the platform allows only a few more requests', async () => {
    answers = [answer(200, { 'RateLimit-Remaining': '3' })]
    const slowed: number[] = []
    const http = createHttp({ sleep: async (ms) => slowed.push(ms) })
    const request = { method: 'GET', url, headers: {}, idempotent: true, setting: 'X' } as const
    await http(request)
    await http(request)
    expect(slowed).to.deep.equal([1000])
  })

  it('does not follow redirects, which would send the token to another host', async () => {
    answers = [answer(302, { Location: url })]
    expect((await send()).status).to.equal(302)
    expect(seen).to.have.length(1)
  })

  it('fails after a timeout', async () => {
    answers = [() => {}]
    const error = await refusal({}, 50)
    expect(error).to.include({ code: 'unreachable' })
    expect(error.message).to.match(/127\.0\.0\.1:\d+ did not answer within 0\.05 s/)
  })

  it('names, if the host does not answer, the setting that contains this host', async () => {
    server.close()
    const error = await refusal()
    expect(error.message).to.match(/cannot be reached \(ECONNREFUSED\)/)
    expect(error.nextStep).to.include('PLATFORM_API_URL')
  })

  for (const code of ['ENOTFOUND', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    it(`fails immediately for an error that a retry cannot solve: ${code}`, () => {
      const cause = new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) })
      const error = unreachable(cause, { url, setting: 'PLATFORM_API_URL', idempotent: true, timeoutMs: 1 })
      expect(error).to.include({ code: 'usage' })
      expect(error.nextStep).to.include('PLATFORM_API_URL')
    })
  }
})
