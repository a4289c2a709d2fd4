import { expect } from 'chai'
import { createAppChannel } from '../../src/stream/app-channel.ts'
import type { Consumer } from '../../src/stream/consumer.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { withServer } from '../../src/testing/serve-app.ts'

const acknowledge: Consumer = async (entries) => entries.map(({ entryId }) => ({ entryId, status: 'SUCCESS' }))

describe('the sidecar’s listener', () => {
  async function deliver(body: string, consumer = acknowledge, contentType = 'application/json') {
    const { log, records } = capturedLog()
    const app = createAppChannel({ token: 'app', consumers: { orderevents: consumer }, log })
    return withServer(app, async (url) => {
      const headers = { 'content-type': contentType, 'dapr-api-token': 'app' }
      const response = await fetch(`${url}/subscriptions/orderevents`, { method: 'POST', headers, body })
      return { status: response.status, text: await response.text(), records }
    })
  }

  it('answers a delivery with the status of each entry', async () => {
    const { status, text } = await deliver('{"entries":[{"entryId":"1","event":null}]}')
    expect([status, text]).to.deep.equal([200, '{"statuses":[{"entryId":"1","status":"SUCCESS"}]}'])
  })

  const bad: Record<string, Parameters<typeof deliver>> = {
    'text that is not JSON': ['{"secret":"GB-123456789",}'],
    'a body without entries': ['{"secret":"GB-123456789"}'],
    'entries that are no list': ['{"entries":{"secret":"GB-123456789"}}'],
    null: ['null'],
    'another content type': ['GB-123456789', acknowledge, 'text/plain'],
    'an unknown charset': ['GB-123456789', acknowledge, 'application/json; charset=latin1'],
    'a consumer that throws': ['{"entries":[]}', () => Promise.reject(new TypeError('a bug'))],
  }
  for (const [what, delivery] of Object.entries(bad)) {
    it(`answers ${what} with an empty 500, so that it comes again, and one line in the log without the payload`, async () => {
      const { status, text, records } = await deliver(...delivery)
      expect([status, text]).to.deep.equal([500, ''])
      expect(records).to.have.lengthOf(1)
      expect(records[0]).to.include({ level: 'error', path: '/subscriptions/orderevents' })
      expect(JSON.stringify(records)).not.to.match(/GB-|secret/)
    })
  }
})
