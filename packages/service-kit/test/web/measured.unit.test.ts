import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { withServer } from '../../src/testing/http.ts'
import { scrape } from '../../src/testing/scrape.ts'
import { call, post } from './support/call.ts'
import { type Thing, thingId, thingsApp } from './support/things.ts'

/** The complete name of the metric that counts requests, because the metric that counts garbage collections has a similar name. */
const requestCount = 'http_server_request_duration_seconds_count'

describe('metrics of requests', () => {
  const metrics = createMetrics()
  const { app } = thingsApp(undefined, undefined, { metrics })
  async function counts(): Promise<Record<string, number>> {
    const found = [...(await scrape(metrics.listener))].filter(([series]) => series.startsWith(requestCount))
    return Object.fromEntries(
      found.map(([series, value]) => [series.replace(/^\w+\{(.*)\}$/, '$1').replaceAll('"', ''), value]),
    )
  }

  it('the metrics count requests by operation, and count all requests for unknown paths as one operation', async () => {
    await call(app, '/v1/things?limit=1')
    await call(app, '/v1/things?limit=Ada')
    await post(app, `/v1/things/${thingId}/drop`, '')
    await post(app, '/v1/things', '{')
    await call(app, '/v1/things', { method: 'DELETE' })
    for (const path of ['/livez', '/openapi.json', '/v1/ada-lovelace', '/docs/', '/metrics']) await call(app, path)
    expect(await counts()).to.deep.equal({
      'method=GET,route=/v1/things,status=2xx': 1,
      'method=GET,route=/v1/things,status=4xx': 1,
      'method=POST,route=/v1/things/{id}/drop,status=2xx': 1,
      'method=POST,route=/v1/things,status=4xx': 1,
      'method=other,route=other,status=2xx': 3,
      'method=other,route=other,status=4xx': 3,
    })
  })

  it('the metrics count a request as aborted if its client disconnects before the answer', async () => {
    const slow = createMetrics()
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Thing>()
    const get = () => {
      asked.resolve()
      return answer.promise
    }
    const hanging = thingsApp(get, undefined, { metrics: slow })
    const counted = async () =>
      [...(await scrape(slow.listener)).keys()].find((series) => series.startsWith(requestCount))
    let found: string | undefined
    await withServer(hanging.app, async (url) => {
      const sent = request(`${url}/v1/things/${thingId}`).on('error', () => {})
      sent.end()
      await asked.promise
      sent.destroy()
      do {
        await delay(5)
        found = await counted()
      } while (!found)
      answer.resolve({ orderId: thingId, amount: 1 })
    })
    expect(found).to.contain('status="aborted"')
    expect(await counted()).to.equal(found)
  })

  it('the public listener does not serve the metrics', async () => {
    expect((await call(app, '/metrics')).status).to.equal(404)
  })
})
