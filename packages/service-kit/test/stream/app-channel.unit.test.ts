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

  async function deliver(body: string, consumer = acknowledge, contentType = 'application/json') {
    return serve(consumer, async (url, records) => {
      const headers = { 'content-type': contentType, 'dapr-api-token': 'app' }
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

  it('logs only the error’s type for an unreadable delivery, and the whole error for other failures', async () => {
    const message = 'a call from the sidecar failed'
    const unreadable = await deliver('GB-123456789')
    expect(unreadable.records[0]).to.include({ msg: message, reason: 'entity.parse.failed' })
    const noList = await deliver('{"entries":{}}', () => expect.fail('the delivery was handed over'))
    expect(noList.records[0]).to.include({ msg: message }).and.to.have.nested.property('err.message')
    expect(noList.records[0]).to.have.nested.property('err.message', 'the delivery has no list of entries')
  })

  const bad: Record<string, Parameters<typeof deliver>> = {
    'text that is not JSON': ['{"secret":"GB-123456789",}'],
    'a body without entries': ['{"secret":"GB-123456789"}'],
    'entries that are not a list': ['{"entries":{"secret":"GB-123456789"}}'],
    'a null body': ['null'],
    'another content type': ['GB-123456789', acknowledge, 'text/plain'],
    'an unknown charset': ['GB-123456789', acknowledge, 'application/json; charset=latin1'],
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
