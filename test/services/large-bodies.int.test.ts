import { randomUUID } from 'node:crypto'
import { service as gateway } from '@orderflow/event-gateway/service'
import { service as orderService } from '@orderflow/order-service/service'
import { service as paymentService } from '@orderflow/payment-service/service'
import { type App, type BaseSettings, createApp, readSettings, type ServiceDefinition } from '@orderflow/service-kit'
import { capturedLog, FakeSidecar, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { combinations, type LargeRecord, largestRecords } from '../support/hostile/large-records.ts'
import { largeValue, shapes, variantsOf } from '../support/hostile/shapes.ts'

const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
const json = 'application/json'
const lines = 'application/x-ndjson'
/** The largest envelope that event-gateway accepts (packages/event-gateway/src/judge.ts). */
const maxEnvelopeBytes = 255 * 1024
const { log, records: logged } = capturedLog()

function appOf<S extends object>(service: ServiceDefinition<S>, sidecar = new FakeSidecar()): App {
  const settings: BaseSettings & S = readSettings(service, tokens)
  return createApp(service, { settings, log, sidecar, now: () => new Date(), newId: randomUUID })
}

async function post(url: string, body: string, type = json): Promise<{ status: number; text: string; ms: number }> {
  const start = performance.now()
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
  return { status: response.status, text: await response.text(), ms: performance.now() - start }
}

const variants = shapes.flatMap((shape) => variantsOf[shape].map((variant) => ({ shape, variant })))
const refused = combinations.filter(({ topic, refusal }) => topic === 'orderevents' && refusal === 'impersonation')

describe('a request body that is wide, deep, long or repetitive', () => {
  afterEach(() => {
    const told = JSON.stringify(logged.splice(0))
    expect(told).not.to.match(/RangeError|Lovelace|Mallory/)
  })

  const forms: Record<string, [service: () => App, path: string, fields: object]> = {
    'order-service': [
      () => appOf(orderService),
      '/v1/orders',
      { customerName: 'Mallory', customerTaxId: 'T', total: 1 },
    ],
    'payment-service': [() => appOf(paymentService), '/v1/payments', { orderId: randomUUID(), amount: 1 }],
  }
  for (const [name, [create, path, fields]] of Object.entries(forms)) {
    it(`gets an answer from ${name} within ten seconds, whichever field has the large value`, async () => {
      await withServer(create().web, async (url) => {
        const seen = new Set<number>()
        for (const { shape, variant } of variants) {
          // The last size is above 64 KiB, the services’ limit for a body.
          for (const bytes of [2_000, 60_000, 250_000]) {
            const value = largeValue(shape, variant, bytes)
            const regular = Object.entries(fields).map(([field, one]) => [field, JSON.stringify(one)])
            for (const place of ['more', ...Object.keys(fields)]) {
              const all = { ...Object.fromEntries(regular), [place]: value }
              const members = Object.entries(all).map(([field, one]) => `"${field}":${one}`)
              const { status, text, ms } = await post(url + path, `{${members.join(',')}}`)
              expect(status, `${variant}, ${bytes} bytes in ${place}: ${text.slice(0, 300)}`).to.be.oneOf([400, 413])
              expect(text.length).to.be.below(20_000)
              expect(ms, variant).to.be.below(10_000)
              seen.add(status)
            }
          }
        }
        expect([...seen]).to.have.members([400, 413])
      })
    })
  }

  for (const combination of combinations.filter(({ topic }) => topic === 'orderevents')) {
    const { shape, refusal } = combination
    const isAdmitted = refusal !== 'version' && refusal !== 'impersonation'
    it(`gets ${isAdmitted ? 'published' : 'rejected'} by event-gateway as a single envelope, in a JSON list and in JSON lines (${shape}, ${refusal})`, async () => {
      const sidecar = new FakeSidecar()
      await withServer(appOf(gateway, sidecar).web, async (url) => {
        const records = largestRecords(combination, 1, maxEnvelopeBytes)
        // If two fields have the same name, readers differ in which one they use. So the gateway rejects such an envelope.
        const [twice, once] = [true, false].map((isTwice) =>
          records.filter(({ title }) => title.includes('member again and again') === isTwice),
        ) as [LargeRecord[], LargeRecord[]]
        for (const { value } of twice) {
          expect((await post(`${url}/v1/events/orderevents`, value.toString())).status).to.be.oneOf([400, 403])
        }
        const texts = once.map(({ value }) => value.toString())
        const several = texts.slice(0, 8)
        const bodies: [string, string][] = [
          ...texts.map((text): [string, string] => [text, json]),
          [`[${several.join(',')}]`, json],
          [several.join('\n'), lines],
        ]
        for (const [body, type] of bodies) {
          const { status, text, ms } = await post(`${url}/v1/events/orderevents`, body, type)
          expect(status, text.slice(0, 300)).to.be.oneOf(isAdmitted ? [202] : [400, 403])
          expect(ms).to.be.below(10_000)
        }
        expect(sidecar.published).to.have.length(isAdmitted ? texts.length + 2 * several.length : 0)
      })
    })
  }

  it('gets a verdict from event-gateway’s validation within ten seconds', async () => {
    const app = appOf(gateway)
    await withServer(app.web, async (url) => {
      for (const combination of refused) {
        for (const { value, title } of largestRecords(combination, 1, maxEnvelopeBytes)) {
          const { status, text, ms } = await post(`${url}/v1/envelopes/validate`, value.toString())
          expect(status, `${title}: ${text.slice(0, 300)}`).to.equal(200)
          expect(ms, title).to.be.below(10_000)
        }
      }
    })
  })
})
