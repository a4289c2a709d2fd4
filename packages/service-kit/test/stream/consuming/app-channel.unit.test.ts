import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { createAppChannel } from '../../../src/stream/consuming/app-channel.ts'
import type { Consumer } from '../../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'
import { capturedLog } from '../../../src/testing/captured-log.ts'
import { withServer } from '../../../src/testing/http.ts'

const acknowledge: Consumer['deliver'] = async (parts) => {
  const entries: BulkEntry[] = []
  for await (const part of parts) entries.push(...part)
  return entries.map(({ entryId }) => ({ entryId, status: 'SUCCESS' }))
}

describe('createAppChannel', () => {
  const serve = <T>(
    consumer: Consumer['deliver'],
    use: (url: string, records: Record<string, unknown>[]) => Promise<T>,
  ) => {
    const { log, records } = capturedLog()
    const app = createAppChannel({ token: 'app', consumers: { orderevents: consumer }, log })
    return withServer(app, (url) => use(url, records))
  }

  async function deliver(body: string, consumer = acknowledge) {
    return serve(consumer, async (url, records) => {
      const headers = { 'dapr-api-token': 'app' }
      const response = await fetch(`${url}/subscriptions/orderevents`, { method: 'POST', headers, body })
      return { status: response.status, text: await response.text(), records }
    })
  }

  it('answers a delivery with the status of each entry', async () => {
    const { status, text } = await deliver('{"entries":[{"entryId":"1","event":null}]}')
    expect([status, text]).to.deep.equal([200, '{"statuses":[{"entryId":"1","status":"SUCCESS"}]}'])
  })

  it('accepts a delivery of several megabytes', async () => {
    const event = 'x'.repeat(2 * 1024 * 1024)
    expect(await deliver(JSON.stringify({ entries: [{ entryId: '1', event }] }))).to.include({ status: 200 })
  })

  it('answers Dapr’s requests for the app’s configuration and subscriptions', async () => {
    await serve(acknowledge, async (url) => {
      for (const [path, answer] of Object.entries({ '/dapr/config': {}, '/dapr/subscribe': [] })) {
        const response = await fetch(url + path, { headers: { 'dapr-api-token': 'app' } })
        expect([response.status, await response.json()]).to.deep.equal([200, answer])
        expect(response.headers.has('x-powered-by') || response.headers.has('etag')).to.equal(false)
      }
    })
  })

  it('answers an unknown path with 503 and logs it, because Dapr would treat 404 as an acknowledgement', async () => {
    await serve(acknowledge, async (url, records) => {
      const response = await fetch(`${url}/subscriptions/other`, {
        headers: { 'dapr-api-token': 'app' },
        method: 'POST',
      })
      expect([response.status, await response.text()]).to.deep.equal([503, ''])
      const hint = 'the sidecar called an unknown path; check components/subscriptions.*.yaml'
      expect(records).to.have.lengthOf(1)
      expect(records[0]).to.include({ level: 'error', path: '/subscriptions/other', msg: hint })
    })
  })

  for (const token of [undefined, '', 'xxx', 'ap', 'app1']) {
    it(`refuses a request with ${token === undefined ? 'no token' : `the token "${token}"`}`, async () => {
      const none: Consumer['deliver'] = () => expect.fail('the delivery was handed over')
      await serve(none, async (url, records) => {
        const headers = { 'content-type': 'application/json', ...(token !== undefined && { 'dapr-api-token': token }) }
        const response = await fetch(`${url}/subscriptions/orderevents`, {
          method: 'POST',
          headers,
          body: '{"entries":[]}',
        })
        expect([response.status, await response.text(), records]).to.deep.equal([401, '', []])
      })
    })
  }

  it('logs why a delivery was not handled', async () => {
    const reasons: Record<string, string> = {
      'GB-123456789': 'the delivery has no complete list of entries',
      '{"entries":[{"GB-123456789"}]}': 'an entry of the delivery is not JSON',
    }
    for (const [body, reason] of Object.entries(reasons)) {
      const { records } = await deliver(body, async (parts) => {
        for await (const _ of parts) expect.fail('a part was handed over')
        return []
      })
      expect(records[0]).to.include({ msg: 'a call from the sidecar failed' })
      expect(records[0]).to.have.nested.property('err.message', reason)
    }
  })

  describe('a large delivery', () => {
    const mebibyte = 1024 * 1024
    /** Returns a delivery with entries of one MiB. */
    const large = (count: number) => {
      const event = 'x'.repeat(mebibyte)
      return JSON.stringify({ entries: Array.from({ length: count }, (_, id) => ({ entryId: `${id}`, event })) })
    }
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const send = (url: string, body: string) =>
      fetch(`${url}/subscriptions/orderevents`, { method: 'POST', headers: { 'dapr-api-token': 'app' }, body })

    it('waits in the socket while a part is handled, and gets one answer for all parts', async () => {
      const sizes: number[] = []
      const waiting: number[] = []
      let server: Socket | undefined
      const { log } = capturedLog()
      const consumer: Consumer['deliver'] = async (parts) => {
        const statuses = []
        for await (const part of parts) {
          sizes.push(part.length)
          // The client can send much more in this time.
          if (sizes.length === 1) await delay(200)
          waiting.push(16 * mebibyte - (server?.bytesRead ?? 0))
          for (const { entryId } of part) statuses.push({ entryId, status: 'SUCCESS' as const })
        }
        return statuses
      }
      const app = createAppChannel({ token: 'app', consumers: { orderevents: consumer }, log })
      const listener: RequestListener = (request, response) => {
        server = request.socket
        app(request, response)
      }
      const { statuses } = (await withServer(listener, async (url) => (await send(url, large(16))).json())) as {
        statuses: unknown[]
      }
      expect(statuses).to.have.length(16)
      expect(sizes[0]).to.be.within(1, 3)
      expect(waiting[0]).to.be.above(12 * mebibyte)
    })

    it('shares the time with other large deliveries, so that at most 8 MiB are handled at once', async () => {
      let [handled, most] = [0, 0]
      const consumer: Consumer['deliver'] = async (parts) => {
        for await (const part of parts) {
          handled += part.length
          most = Math.max(most, handled)
          for (let index = 0; index < 9; index += 1) await turn()
          handled -= part.length
        }
        return []
      }
      await serve(consumer, async (url) => {
        const body = large(8)
        const answers = await Promise.all([...Array(12).fill(body), '{"entries":[]}'].map((one) => send(url, one)))
        expect(answers.map(({ status }) => status)).to.deep.equal(Array(13).fill(200))
      })
      expect(most).to.be.within(4, 8)
    })

    it('ends with an error for the consumer if its connection breaks, and later deliveries are handled', async () => {
      const broken = Promise.withResolvers<unknown>()
      const consumer: Consumer['deliver'] = async (parts) => {
        try {
          for await (const part of parts) {
            if (part[0]?.entryId === 'last') return [{ entryId: 'last', status: 'SUCCESS' }]
            for (const socket of sockets) socket.destroy()
            await delay(20)
          }
        } catch (error) {
          broken.resolve(error)
          throw error
        }
        return []
      }
      const sockets: Socket[] = []
      const { log, records } = capturedLog()
      const app = createAppChannel({ token: 'app', consumers: { orderevents: consumer }, log })
      const listener: RequestListener = (request, response) => {
        sockets.push(request.socket)
        app(request, response)
      }
      await withServer(listener, async (url) => {
        const failed = await send(url, large(8)).catch((error: unknown) => error)
        expect(failed).to.be.instanceOf(TypeError)
        expect(await broken.promise).to.have.property('code', 'ECONNRESET')
        expect((await send(url, '{"entries":[{"entryId":"last"}]}')).status).to.equal(200)
      })
      expect(records).to.have.length(1)
      expect(records[0]).to.include({ level: 'error', msg: 'a call from the sidecar failed' })
    })
  })

  const bad: Record<string, Parameters<typeof deliver>> = {
    'text that is not JSON': ['{"secret":"GB-123456789",}'],
    'a body without entries': ['{"secret":"GB-123456789"}'],
    'entries that are not a list': ['{"entries":{"secret":"GB-123456789"}}'],
    'a null body': ['null'],
    'an entry that is not JSON': ['{"entries":[{"secret":"GB-123456789",}]}'],
    'an unfinished body': ['{"entries":[{"secret":"GB-123456789"}'],
    'a consumer that throws': ['{"entries":[]}', () => Promise.reject(new TypeError('a bug'))],
  }
  for (const [what, delivery] of Object.entries(bad)) {
    it(`answers ${what} with an empty 500, and logs one line without the payload`, async () => {
      const { status, text, records } = await deliver(...delivery)
      expect([status, text]).to.deep.equal([500, ''])
      expect(records).to.have.lengthOf(1)
      expect(records[0]).to.include({ level: 'error', path: '/subscriptions/orderevents' })
      expect(JSON.stringify(records)).not.to.match(/GB-|secret/)
    })
  }
})
