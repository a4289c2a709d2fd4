import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { createHttpTarget, type TargetSettings } from '../../src/calls/http-target.ts'
import type { CallRequest } from '../../src/calls/target.ts'

interface Received {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

const json = (response: ServerResponse, status: number, body: object, type = 'application/json') =>
  response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body))

describe('a target over HTTP', () => {
  let server: Server
  let received: Received[]
  let answer: (response: ServerResponse) => unknown
  beforeEach(async () => {
    received = []
    answer = (response) => json(response, 200, { status: 'captured' })
    server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request
      received.push({ method, url, headers, body: await text(request) })
      answer(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = () => (server.address() as AddressInfo).port

  const open = (changes: Partial<TargetSettings> = {}, options: Parameters<typeof createHttpTarget>[2] = {}) =>
    createHttpTarget(
      'provider',
      {
        ...{
          Address: `http://127.0.0.1:${port()}/v1`,
          Secret: 's3cret',
          TimeoutSeconds: 1,
          Together: 10,
          KeyHours: 24,
        },
        ...{ Lookup: true, AllowedAddresses: '127.0.0.0/8' },
        ...changes,
      },
      options,
    )
  const request = (): CallRequest => ({
    ...{ operation: 'capture', key: 'key-1', input: { amount: 42.5 }, signal: new AbortController().signal },
  })
  const call = (changes?: Partial<TargetSettings>) => open(changes).call(request())

  it('sends the operation, the input, the key and the secret, and returns the answer', async () => {
    expect(await call()).to.deep.equal({ outcome: 'done', answer: { status: 'captured' } })
    const [{ method, url, headers, body } = {} as Received] = received
    expect({ method, url, body }).to.deep.equal({ method: 'POST', url: '/v1/capture', body: '{"amount":42.5}' })
    expect(headers).to.include({
      'idempotency-key': 'key-1',
      authorization: 'Bearer s3cret',
      'content-type': 'application/json',
    })
  })

  it('reports a status 4xx as a refusal, with the code and reason of the target', async () => {
    answer = (response) => json(response, 422, { code: 'declined', detail: 'no money' }, 'application/problem+json')
    expect(await call()).to.deep.equal({ outcome: 'refused', code: 'declined', reason: 'no money' })
    answer = (response) => json(response, 400, { type: 'urn:shop:problem:no-amount', title: 'The amount is missing' })
    expect(await call()).to.deep.equal({ outcome: 'refused', code: 'no-amount', reason: 'The amount is missing' })
    answer = (response) => response.writeHead(404).end()
    expect(await call()).to.deep.equal({ outcome: 'refused', code: 'http-404', reason: 'status 404' })
  })

  for (const status of [302, 408, 409, 425, 429, 500, 503]) {
    it(`reports status ${status} as an unknown outcome`, async () => {
      answer = (response) => response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end()
      expect(await call()).to.deep.equal({ outcome: 'unknown', reason: `status ${status}` })
      expect(received).to.have.length(1)
    })
  }

  it('reports a lost, late, too large or invalid answer as an unknown outcome', async () => {
    const reasonAfter = async (one: typeof answer) => {
      answer = one
      const result = await call()
      return result.outcome === 'unknown' ? result.reason : result
    }
    expect(await reasonAfter((response) => response.destroy())).to.equal('socket hang up')
    expect(await reasonAfter(() => {})).to.equal('no answer within 1 s')
    expect(await reasonAfter((response) => response.writeHead(200).end(`"${'x'.repeat(70_000)}"`))).to.equal(
      'the answer has more than 65536 bytes',
    )
    expect(await reasonAfter((response) => response.writeHead(200).end('[1]'))).to.equal(
      'the answer is not a JSON object',
    )
    expect(await reasonAfter((response) => response.writeHead(200).end('captured'))).to.equal(
      'the answer is not a JSON object',
    )
  })

  it('accepts an empty answer', async () => {
    answer = (response) => response.writeHead(204).end()
    expect(await call()).to.deep.equal({ outcome: 'done', answer: undefined })
  })

  it('looks up a key, and distinguishes a key that the target never got', async () => {
    const { lookup } = open()
    answer = (response) => json(response, 422, { code: 'declined', detail: 'no money' })
    expect(await lookup?.(request())).to.deep.equal({ outcome: 'refused', code: 'declined', reason: 'no money' })
    expect(received[0]).to.include({ method: 'GET', url: '/v1/capture/key-1', body: '' })
    answer = (response) => response.writeHead(404).end()
    expect(await lookup?.(request())).to.deep.equal({ outcome: 'absent' })
    answer = (response) => response.writeHead(503).end()
    expect(await lookup?.(request())).to.include({ outcome: 'unknown' })
    expect(open({ Lookup: false }).lookup).to.equal(undefined)
  })

  it('makes no request for a while after five failures in a row, and then tries one', async () => {
    const target = open({}, { pauseMs: 100 })
    answer = (response) => response.writeHead(503).end()
    for (let tries = 0; tries < 5; tries += 1) await target.call(request())
    expect(target.isAvailable?.()).to.equal(false)
    expect(await target.call(request())).to.deep.equal({
      outcome: 'unknown',
      reason: 'provider did not answer 5 requests, so none was made',
    })
    expect(received).to.have.length(5)
    await delay(120)
    expect(target.isAvailable?.()).to.equal(true)
    answer = (response) => json(response, 200, {})
    expect(await target.call(request())).to.include({ outcome: 'done' })
    expect(target.isAvailable?.()).to.equal(true)
  })

  it('does not count refusals as failures', async () => {
    const target = open()
    answer = (response) => response.writeHead(400).end()
    for (let tries = 0; tries < 10; tries += 1) expect(await target.call(request())).to.include({ outcome: 'refused' })
  })

  it('ends a request when the service stops', async () => {
    answer = () => {}
    const stopping = new AbortController()
    const result = open({ TimeoutSeconds: 20 }).call({ ...request(), signal: stopping.signal })
    stopping.abort()
    expect(await result).to.include({ outcome: 'unknown' })
  })

  it('never shows its secret in a reason', async () => {
    answer = (response) => response.destroy()
    expect(JSON.stringify(await call())).not.to.contain('s3cret')
  })

  describe('in a private network', () => {
    const reasonOf = async (changes: Partial<TargetSettings>, options = {}) => {
      const result = await open(changes, options).call(request())
      return result.outcome === 'unknown' ? result.reason : result
    }
    // Each address is this server, under a form that simple checks of texts miss.
    for (const host of [
      ...['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.1', 'localhost', '0.0.0.0'],
      ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::]'],
    ])
      it(`refuses ${host} unless its network is allowed`, async () => {
        const changes = { Address: `http://${host}:${port()}`, AllowedAddresses: '192.0.2.0/24' }
        const reason = await reasonOf(changes)
        expect(reason).to.match(/has the address \S+, which is not public: AllowedAddresses must name its network/)
        expect(received).to.deep.equal([])
      })

    it('accepts an address in an allowed network', async () => {
      expect(
        await call({ Address: `http://localhost:${port()}`, AllowedAddresses: '127.0.0.0/8, ::1/128' }),
      ).to.include({
        outcome: 'done',
      })
    })

    // DNS rebinding: the second answer of the resolver is a private address.
    it('resolves a name once, so a second answer of the resolver has no effect', async () => {
      const answers = ['203.0.113.7', '127.0.0.1']
      let count = 0
      const resolve = async () => {
        count += 1
        return [{ address: answers.shift() ?? '127.0.0.1', family: 4 }]
      }
      const changes = { Address: `http://rebinding.example:${port()}`, AllowedAddresses: '203.0.113.0/24' }
      expect(await reasonOf(changes, { resolve })).to.match(/203\.0\.113\.7|no answer within/)
      expect([count, received]).to.deep.equal([1, []])
    })

    it('refuses a name of which only one address is private', async () => {
      const resolve = async () => [
        { address: '8.8.8.8', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]
      const changes = { Address: `http://two.example:${port()}`, AllowedAddresses: '192.0.2.0/24' }
      expect(await reasonOf(changes, { resolve })).to.contain('127.0.0.1')
      expect(received).to.deep.equal([])
    })

    it('follows no redirect', async () => {
      const hidden = createServer((_, response) => void response.end('{}')).listen(0, '127.0.0.1')
      await once(hidden, 'listening')
      let count = 0
      hidden.on('request', () => (count += 1))
      const location = `http://127.0.0.1:${(hidden.address() as AddressInfo).port}/`
      for (const status of [301, 302, 303, 307, 308]) {
        answer = (response) => response.writeHead(status, { location }).end()
        expect(await call()).to.deep.equal({ outcome: 'unknown', reason: `status ${status}` })
      }
      hidden.close()
      expect(count).to.equal(0)
    })

    it('ignores the proxies of the environment', async () => {
      const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'NODE_USE_ENV_PROXY']
      const before = variables.map((name) => process.env[name])
      for (const name of variables) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${port()}`
      try {
        const reason = await reasonOf({ Address: 'http://127.0.0.9:9', AllowedAddresses: '127.0.0.0/8' })
        expect(reason).to.contain('ECONNREFUSED')
        expect(received).to.deep.equal([])
      } finally {
        for (const [index, name] of variables.entries()) {
          if (before[index] === undefined) delete process.env[name]
          else process.env[name] = before[index]
        }
      }
    })
  })

  it('refuses settings that cannot work', () => {
    expect(() => open({ AllowedAddresses: '' })).to.throw(/the address of provider must be HTTPS/)
    expect(() => open({ AllowedAddresses: '10.1.0.0' })).to.throw(/10\.1\.0\.0 is not a network: write an address and/)
    expect(() => open({ AllowedAddresses: '10.1.0.0/33' })).to.throw(/is not a network/)
  })
})
