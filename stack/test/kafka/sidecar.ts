import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { send } from '../../src/commands/publish.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { groupMembers, groupMissing } from '../../src/kafka/readiness.ts'
import { eventually } from '../../src/lib/poll.ts'
import { entryOf } from '../../src/lib/services.ts'
import { ensureRunning } from '../../src/processes/ensure.ts'
import type { Plan } from '../../src/processes/plan.ts'
import { stopProcess } from '../../src/processes/process-control.ts'
import { runningStack } from '../../src/processes/running-stack.ts'

interface Delivery {
  at: number
  path: string | undefined
  token: string | undefined
  events: string[]
}

export function sidecar(planned: () => Plan): void {
  describe('a sidecar with components and components/sqlite', () => {
    let plan: Plan
    let app: Server
    /** The event that is answered RETRY until it comes for the third time. */
    const unready = '{"n":3}'
    const deliveries: Delivery[] = []

    /** Stands in for the service: answers every bulk delivery, with a status for each of its entries. */
    async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const body = Buffer.concat(await request.toArray()).toString()
      response.setHeader('content-type', 'application/json')
      if (request.method === 'GET') return void response.end(request.url === '/dapr/subscribe' ? '[]' : '{}')
      const { entries } = JSON.parse(body) as { entries: { entryId: string; event: string }[] }
      const events = entries.map(({ event }) => Buffer.from(event, 'base64').toString())
      deliveries.push({
        at: performance.now(),
        path: request.url,
        token: request.headers['dapr-api-token'] as string,
        events,
      })
      const statuses = entries.map(({ entryId }, index) => ({ entryId, status: statusOf(events[index] ?? '') }))
      response.end(JSON.stringify({ statuses }))
    }

    const publish = (topic: string, value: string) =>
      send(localKafka(plan.ports.kafka), { topic, key: 'k', value: Buffer.from(value) })
    const deliveriesOf = (value: string) => deliveries.filter(({ events }) => events.includes(value))
    const statusOf = (value: string) => (value === unready && deliveriesOf(value).length < 3 ? 'RETRY' : 'SUCCESS')
    const arrival = (value: string) => eventually(() => deliveriesOf(value)[0], `${value} arrived`)

    before(async () => {
      plan = planned()
      app = createServer(respond).listen(entryOf(plan.ports.services, 'order-service').channel, '127.0.0.1')
      await once(app, 'listening')
      await ensureRunning(plan, ['order-sidecar'], { onProgress: () => {} })
    })
    after(async () => {
      await stopProcess(plan.folder, 'order-sidecar', 0)
      app.closeAllConnections()
      app.close()
    })

    it('delivers the raw value of both topics to their routes, with the service’s token', async () => {
      await publish('orderevents', '{"n":1}')
      await publish('paymentevents', '{"n":2}')
      const [order, payment] = [await arrival('{"n":1}'), await arrival('{"n":2}')]
      expect(order).to.include({ path: '/subscriptions/orderevents', token: entryOf(plan.tokens, 'order-service').app })
      expect(payment).to.include({
        path: '/subscriptions/paymentevents',
        token: entryOf(plan.tokens, 'order-service').app,
      })
    })

    it('delivers an entry answered RETRY again, not before a second is over, until it is answered SUCCESS', async () => {
      await publish('orderevents', unready)
      await eventually(() => deliveriesOf(unready)[2], 'it came for the third time')
      await publish('orderevents', '{"n":4}')
      await arrival('{"n":4}')
      const [first, second, ...others] = deliveriesOf(unready)
      expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.at.least(1_000)
      expect(others).to.have.length(1)
    })

    it('answers nobody without its token, and has loaded everything in both folders', async () => {
      const url = `http://127.0.0.1:${entryOf(plan.ports.services, 'order-service').daprHttp}/v1.0/metadata`
      expect((await fetch(url)).status).to.equal(401)
      const response = await fetch(url, { headers: { 'dapr-api-token': entryOf(plan.tokens, 'order-service').dapr } })
      const metadata = (await response.json()) as Record<string, { name?: string; topic?: string }[]>
      const streams = ['pubsub', 'pubsub-1', 'pubsub-2', 'pubsub-3']
      expect(metadata.components?.map(({ name }) => name)).to.include.members(['env-secrets', ...streams, 'statestore'])
      const topics = metadata.subscriptions?.map(({ topic }) => topic)
      expect(topics).to.have.members(['orderevents', ...Array(3).fill('paymentevents')])
      expect(metadata.resiliencies).to.deep.equal([{ name: 'resiliency' }])
      expect(metadata.enabledFeatures ?? []).to.not.include('HotReload')
    })

    it('that was killed is ready again only when a live member has its partitions', async () => {
      const stack = runningStack(plan, false)
      const killed = await groupMembers(stack.kafka, ['order-service'])
      await stack.kill('order-sidecar')
      await stack.restart('order-sidecar')
      expect(await groupMissing(stack.kafka, 'order-service', killed)).to.equal(undefined)
      await publish('orderevents', '{"n":5}')
      await arrival('{"n":5}')
    })
  })
}
