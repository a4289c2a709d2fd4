import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { type Listener, listen, publicBounds } from '../../src/runtime/process/listener.ts'
import { thingId, thingsApp } from '../web/support/things.ts'
import { portOf } from './support/port.ts'

/** Each test sends bytes that no correct client sends. Node's parser and Express must refuse these bytes, or process them without harm. */
describe('the public listener', () => {
  let listener: Listener
  before(async () => {
    const limits = { AddressPerMinute: 1_000_000, CallerPerMinute: 0, TenantPerMinute: 0 }
    const { app } = thingsApp(undefined, undefined, { limits, hosts: 'shop.example,other.example,a' })
    listener = await listen(app, publicBounds, { host: '127.0.0.1', port: 0, variable: 'Web__HttpPort' })
  })
  after(() => listener.drain())

  /** Sends texts, and returns everything that is received until the connection closes. A reset connection is treated as closed. */
  async function answerTo(...parts: string[]): Promise<string> {
    const socket = connect(portOf(listener.server), '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      received += chunk
    })
    const closed = new Promise<void>((resolve) => socket.on('error', () => {}).once('close', () => resolve()))
    for (const part of parts) socket.write(part, 'latin1')
    await closed
    return received
  }
  const statusesOf = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)
  const request = (line: string, headers: string[] = [], body = '') =>
    `${[line, 'Host: shop.example', ...headers].join('\r\n')}\r\n\r\n${body}`
  const last = request('GET /livez HTTP/1.1', ['Connection: close'])
  const json = 'Content-Type: application/json'
  const thing = JSON.stringify({ orderId: thingId, amount: 1 })

  describe('for an endless request', () => {
    it('refuses headers of more than 16 KiB, in one line or in many lines', async () => {
      const long = `GET /v1/things HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17 * 1024)}`
      const many = `GET /v1/things HTTP/1.1\r\nHost: a\r\n${'A: b\r\n'.repeat(3_000)}`
      const path = `GET /v1/things?${'x'.repeat(17 * 1024)}`
      for (const endless of [long, many, path]) {
        expect(await answerTo(endless)).to.match(/^HTTP\/1.1 431 .*Connection: close/s)
      }
    })

    it('refuses a request with more than 16 KiB of chunk extensions or trailers', async () => {
      const chunked = request('POST /v1/things HTTP/1.1', [json, 'Transfer-Encoding: chunked'])
      expect(statusesOf(await answerTo(chunked, `1;${'x'.repeat(17 * 1024)}`))).to.deep.equal(['413'])
      expect(statusesOf(await answerTo(chunked, `0\r\n${'A: b\r\n'.repeat(3_000)}`))).to.deep.equal(['431'])
    })

    it('refuses a body of more than 64 KiB, whatever length the request announces', async () => {
      for (const headers of [['Content-Length: 99999999999'], ['Transfer-Encoding: chunked']]) {
        const chunk = headers[0]?.includes('chunked') ? `${(65_537).toString(16)}\r\n${'x'.repeat(65_537)}` : '{'
        const socket = connect(portOf(listener.server), '127.0.0.1')
        socket.write(request('POST /v1/things HTTP/1.1', [json, ...headers]) + chunk)
        const [first] = await once(socket, 'data')
        expect(statusesOf(String(first))).to.deep.equal(['413'])
        socket.destroy()
      }
    })
  })

  describe('for a request that a proxy may read differently', () => {
    const smuggled = 'GET /v1/things?limit=7 HTTP/1.1\r\nHost: a\r\n\r\n'
    const ambiguous: Record<string, string[]> = {
      'has a length and chunks': ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      'has chunks and a length': ['Transfer-Encoding: chunked', 'Content-Length: 5'],
      'has two lengths': ['Content-Length: 5', 'Content-Length: 6'],
      'has a list of lengths': ['Content-Length: 5, 5'],
      'has a length with a sign': ['Content-Length: +5'],
      'has a length in another form': ['Content-Length: 0x5'],
      'has an unknown transfer encoding': ['Transfer-Encoding: xchunked'],
      'has a transfer encoding after chunked': ['Transfer-Encoding: chunked, identity'],
      'has a space before a colon': ['Content-Length : 5'],
      'folds a line': ['X: a', ' b', 'Content-Length: 5'],
      'has a null in a header': ['X: a\0b', 'Content-Length: 5'],
      'has a line feed without a carriage return': ['X: a\nContent-Length: 5'],
      'has a carriage return without a line feed': ['X: a\rContent-Length: 5'],
    }
    for (const [what, headers] of Object.entries(ambiguous)) {
      it(`refuses a request that ${what}, and ignores all bytes after this request`, async () => {
        const answer = await answerTo(request('POST /v1/things HTTP/1.1', [json, ...headers], `0\r\n\r\n${smuggled}`))
        expect(statusesOf(answer)).to.deep.equal(['400'])
      })
    }

    for (const size of ['FFFFFFFFFFFFFFFFF', '-1', '0x1', '1 ', '']) {
      it(`refuses a chunk with the size "${size}"`, async () => {
        const chunked = request('POST /v1/things HTTP/1.1', [json, 'Transfer-Encoding: chunked'], `${size}\r\n{\r\n`)
        expect(statusesOf(await answerTo(chunked))).to.deep.equal(['400'])
      })
    }

    it('treats bytes after the last chunk as a new request', async () => {
      const chunks = `${thing.length.toString(16)}\r\n${thing}\r\n0\r\n\r\n`
      const chunked = request('POST /v1/things HTTP/1.1', [json, 'Transfer-Encoding: chunked'], chunks)
      expect(statusesOf(await answerTo(chunked, last))).to.deep.equal(['201', '200'])
    })
  })

  describe('for another protocol', () => {
    it('answers HTTP/1.0 and HTTP/0.9, and then closes the connection', async () => {
      for (const version of [' HTTP/1.0', '']) {
        expect(await answerTo(`GET /v1/things${version}\r\n\r\n`)).to.match(/^HTTP\/1.1 200 .*"items":\[\]/s)
      }
    })

    it('refuses HTTP/2 and invalid names of protocols', async () => {
      for (const line of [
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
        '\x16\x03\x01\x02',
      ]) {
        expect(statusesOf(await answerTo(line, '\r\n\r\n')), line).to.deep.equal(['400'])
      }
    })

    it('refuses a request without a Host header', async () => {
      expect(statusesOf(await answerTo('GET /v1/things HTTP/1.1\r\n\r\n'))).to.deep.equal(['400'])
    })

    it('handles a request for a complete URL like a request for a path', async () => {
      const answer = await answerTo(
        request('GET http://other.example/v1/things?limit=7 HTTP/1.1', ['Connection: close']),
      )
      expect(answer).to.match(/^HTTP\/1.1 200 .*ratelimit: "address".*"next":"7"/s)
      expect(await answerTo(request('GET http://other.example/none HTTP/1.1', ['Connection: close']))).to.match(
        /^HTTP\/1.1 404 /,
      )
    })

    it('refuses tunnels (CONNECT), and ignores a request to change the protocol (Upgrade)', async () => {
      expect(await answerTo(request('CONNECT other.example:443 HTTP/1.1'))).to.equal('')
      const upgrade = ['Connection: Upgrade, close', 'Upgrade: websocket']
      expect(statusesOf(await answerTo(request('GET /livez HTTP/1.1', upgrade)))).to.deep.equal(['200'])
    })

    it('accepts only `100-continue` in the header `Expect`', async () => {
      const expecting = (what: string) =>
        request('POST /v1/things HTTP/1.1', [
          json,
          `Expect: ${what}`,
          'Connection: close',
          `Content-Length: ${thing.length}`,
        ])
      expect(statusesOf(await answerTo(expecting('100-continue'), thing))).to.deep.equal(['100', '201'])
      expect(statusesOf(await answerTo(expecting('200-ok')))).to.deep.equal(['417'])
    })
  })

  it('answers a hundred pipelined requests in the order in which they were sent', async () => {
    const pages = Array.from({ length: 100 }, (_, index) => index + 1)
    const answer = await answerTo(...pages.map((page) => request(`GET /v1/things?limit=${page} HTTP/1.1`)), last)
    expect([...answer.matchAll(/"next":"(\d+)"/g)].map(([, page]) => Number(page))).to.deep.equal(pages)
    expect(statusesOf(answer)).to.have.lengthOf(101)
  })

  describe('for a repeated input', () => {
    const get = (path: string) => answerTo(request(`GET ${path} HTTP/1.1`, ['Connection: close']))

    it('refuses a repeated parameter and names it', async () => {
      for (const name of ['limit', 'cursor']) {
        expect(await get(`/v1/things?${name}=1&${name}=2`)).to.match(
          new RegExp(`^HTTP/1.1 400 .*"pointer":"${name}"`, 's'),
        )
      }
    })

    it('refuses a repeated Idempotency-Key header and names it', async () => {
      const keys = [
        'Idempotency-Key: a',
        'Idempotency-Key: b',
        json,
        'Connection: close',
        `Content-Length: ${thing.length}`,
      ]
      const answer = await answerTo(request('POST /v1/things HTTP/1.1', keys, thing))
      expect(answer).to.match(/^HTTP\/1.1 400 .*"pointer":"Idempotency-Key"/s)
    })
  })

  it('refuses unknown parameters whose names are properties of every JavaScript object', async () => {
    const names = [
      '__proto__=1',
      'constructor=1',
      '__proto__[limit]=1',
      'limit[]=1',
      'limit[__proto__]=1',
      'toString=1',
    ]
    for (const name of names) {
      const answer = await answerTo(request(`GET /v1/things?${name} HTTP/1.1`, ['Connection: close']))
      expect(answer, name).to.match(/^HTTP\/1.1 400 .*the parameters are: limit, cursor/s)
    }
  })
})
