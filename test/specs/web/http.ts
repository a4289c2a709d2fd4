import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { orderUrl, paymentUrl, send } from '@orderflow/chaos/clients/api'
import { entryOf, type RunningStack, services } from '@orderflow/stack'
import { expect } from 'chai'

const json = { 'content-type': 'application/json' }

interface OpenApi {
  paths: Record<string, Record<string, { responses: object }>>
  components: { schemas: { Problem: { properties: object } } }
}

export function servicesOverHttp(running: () => RunningStack): void {
  describe('the HTTP interface of the services', () => {
    let stack: RunningStack
    before(() => {
      stack = running()
    })

    it('documents the problems of every operation', async () => {
      for (const [url, member] of [[orderUrl(stack), 'orderId'] as const, [paymentUrl(stack), 'paymentId'] as const]) {
        const { body } = await send<OpenApi>(`${url}/openapi.json`)
        expect(body.components.schemas.Problem.properties).to.include.keys('detail', member)
        for (const [path, operations] of Object.entries(body.paths)) {
          for (const [method, { responses }] of Object.entries(operations)) {
            const expected = method === 'post' ? ['400', '403', '503'] : ['400', '503']
            expect(responses, `${method} ${path}`).to.include.keys(...expected)
          }
        }
      }
    })

    it('serves https with the local certificate in every service', async () => {
      const ca = stack.certificate
      for (const url of Object.values(stack.services).map(({ httpsUrl }) => httpsUrl)) {
        const response = await new Promise<IncomingMessage>((resolve, reject) => {
          request(`${url.replace('127.0.0.1', 'localhost')}/livez`, { ca }, resolve)
            .on('error', reject)
            .end()
        })
        expect(response.statusCode).to.equal(200)
        response.destroy()
      }
    })

    it('accepts events from a sidecar only on a separate port and with a token', async () => {
      const event = { method: 'POST', headers: json, body: '{"entries":[]}' }
      const path = '/subscriptions/orderevents'
      expect((await send(orderUrl(stack) + path, event)).status).to.equal(404)
      expect((await stack.askInside('order-service', 'channel', path, event)).status).to.equal(401)
      const headers = { ...json, 'dapr-api-token': entryOf(stack.tokens, 'order-service').app }
      const known = await stack.askInside('order-service', 'channel', path, { ...event, headers })
      expect(known).to.deep.equal({ status: 200, body: '{"statuses":[]}' })
    })

    it('answers 503 instead of 404 to the sidecar for an unknown path, because Dapr acknowledges an event after a 404', async () => {
      const headers = { 'dapr-api-token': entryOf(stack.tokens, 'order-service').app }
      const unknown = { method: 'POST', headers }
      expect((await stack.askInside('order-service', 'channel', '/subscriptions/other', unknown)).status).to.equal(503)
    })

    it('requires a token for access to a sidecar', async () => {
      const path = '/v1.0/metadata'
      expect((await stack.askInside('payment-service', 'sidecar', path)).status).to.equal(401)
      const headers = { 'dapr-api-token': entryOf(stack.tokens, 'payment-service').dapr }
      expect((await stack.askInside('payment-service', 'sidecar', path, { headers })).status).to.equal(200)
    })

    it('offers no secrets, and only the APIs that the kit uses, at any sidecar', async () => {
      const paths = [
        '/v1.0/secrets/env-secrets/State__ConnectionString',
        '/v1.0/secrets/env-secrets/Stream__SaslPassword',
        '/v1.0/secrets/env-secrets/bulk',
        '/v1.0/state/statestore/a',
        '/v1.0/invoke/payment-service/method/subscriptions/orderevents',
        '/v1.0/configuration/statestore?key=a',
      ]
      for (const { name } of services) {
        const headers = { 'dapr-api-token': entryOf(stack.tokens, name).dapr }
        for (const path of paths) {
          const { status } = await stack.askInside(name, 'sidecar', path, { headers })
          expect(status, `${name} ${path}`).to.equal(404)
        }
      }
    })
  })
}
