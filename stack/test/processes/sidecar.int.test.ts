import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { send } from '../../src/commands/publish.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { testFolder } from '../../src/lib/paths.ts'
import { eventually } from '../../src/lib/poll.ts'
import { entryOf } from '../../src/lib/services.ts'
import { ensureRunning } from '../../src/processes/ensure.ts'
import { freePorts } from '../../src/processes/free-ports.ts'
import { createPlan, type Plan } from '../../src/processes/plan.ts'
import { runningStack } from '../../src/processes/running-stack.ts'
import { claimFolder } from '../../src/processes/test-owner.ts'
import { provision } from '../../src/provision/provision.ts'

interface Delivery {
  at: number
  path: string | undefined
  token: string | undefined
  events: string[]
}

describe('a sidecar with components and components/sqlite', function () {
  this.timeout(120_000)
  let plan: Plan
  let app: Server
  let answer = 'SUCCESS'
  const deliveries: Delivery[] = []

  /** Stands in for the service: answers every bulk delivery with `answer` for each of its entries. */
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString()
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') return void response.end(request.url === '/dapr/subscribe' ? '[]' : '{}')
    const { entries } = JSON.parse(body) as { entries: { entryId: string; event: string }[] }
    const events = entries.map(({ event }) => Buffer.from(event, 'base64').toString())
    deliveries.push({ at: Date.now(), path: request.url, token: request.headers['dapr-api-token'] as string, events })
    response.end(JSON.stringify({ statuses: entries.map(({ entryId }) => ({ entryId, status: answer })) }))
  }

  const publish = (topic: string, value: string) =>
    send(localKafka(plan.ports.kafka), { topic, key: 'k', value: Buffer.from(value) })
  const deliveriesOf = (value: string) => deliveries.filter(({ events }) => events.includes(value))

  before(async () => {
    await provision({ onProgress: () => {} })
    await claimFolder(testFolder('sidecar'))
    plan = await createPlan(testFolder('sidecar'), await freePorts())
    app = createServer(respond).listen(entryOf(plan.ports.services, 'order-service').channel, '127.0.0.1')
    await once(app, 'listening')
    await ensureRunning(plan, ['kafka', 'order-sidecar'], { onProgress: () => {} })
  })
  after(async () => {
    await runningStack(plan, false).stop()
    app.closeAllConnections()
    app.close()
  })

  it('delivers the raw value of both topics to their routes, with the service’s token', async () => {
    await publish('orderevents', '{"n":1}')
    await publish('paymentevents', '{"n":2}')
    await eventually(() => deliveriesOf('{"n":1}').length + deliveriesOf('{"n":2}').length === 2, 'both arrived')
    const [order, payment] = [deliveriesOf('{"n":1}')[0], deliveriesOf('{"n":2}')[0]]
    expect(order).to.include({ path: '/subscriptions/orderevents', token: entryOf(plan.tokens, 'order-service').app })
    expect(payment).to.include({
      path: '/subscriptions/paymentevents',
      token: entryOf(plan.tokens, 'order-service').app,
    })
  })

  it('delivers an entry answered RETRY again, a second later, until it is answered SUCCESS', async () => {
    answer = 'RETRY'
    await publish('orderevents', '{"n":3}')
    await eventually(() => deliveriesOf('{"n":3}').length === 3, 'it came three times')
    answer = 'SUCCESS'
    await eventually(() => deliveriesOf('{"n":3}').length === 4, 'it came a last time')
    const [first, second] = deliveriesOf('{"n":3}')
    expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.within(900, 2_000)
    await publish('orderevents', '{"n":4}')
    await eventually(() => deliveriesOf('{"n":4}').length === 1, 'the next one arrived')
    expect(deliveriesOf('{"n":3}')).to.have.length(4)
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
    await stack.kill('order-sidecar')
    await stack.restart('order-sidecar')
    await publish('orderevents', '{"n":5}')
    await eventually(() => deliveriesOf('{"n":5}').length === 1, 'it arrived', 1_500)
  })
})
