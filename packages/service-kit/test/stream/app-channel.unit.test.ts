import { expect } from 'chai'
import { createAppChannel } from '../../src/stream/app-channel.ts'
import type { Consumer } from '../../src/stream/consumer.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { withServer } from '../../src/testing/http.ts'

const acknowledge: Consumer['deliver'] = async (entries) =>
  entries.map(({ entryId }) => ({ entryId, status: 'SUCCESS' }))

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
      const { records } = await deliver(body, () => expect.fail('the delivery was handed over'))
      expect(records[0]).to.include({ msg: 'a call from the sidecar failed' })
      expect(records[0]).to.have.nested.property('err.message', reason)
    }
  })

  it('handles deliveries with many bytes one after the other', async () => {
    let running = 0
    let most = 0
    const consumer: Consumer['deliver'] = async (entries) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      return acknowledge(entries)
    }
    const event = 'x'.repeat(40 * 1024 * 1024)
    const large = JSON.stringify({ entries: [{ entryId: '1', event }] })
    await serve(consumer, async (url) => {
      const headers = { 'dapr-api-token': 'app' }
      const send = (body: string) => fetch(`${url}/subscriptions/orderevents`, { method: 'POST', headers, body })
      const answers = await Promise.all([large, large, '{"entries":[]}'].map(send))
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    })
    expect(most).to.equal(1)
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
