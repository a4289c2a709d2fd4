import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { createSidecar } from '@orderflow/service-kit/operations'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { consumerComponents, entryOf, membersOf, partitions, serviceNamed } from '../../src/application/services.ts'
import { eventually } from '../../src/base/run-tool.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { groupMembers, groupMissing, membersMissing, untilNothingMissing } from '../../src/kafka/readiness.ts'
import { ensureRunning } from '../../src/processes/ensure.ts'
import type { Plan } from '../../src/processes/plan.ts'
import { stopProcess } from '../../src/processes/process/control.ts'
import { runningStack } from '../../src/processes/running-stack.ts'
import { send } from './send.ts'

interface Delivery {
  at: number
  path: string | undefined
  token: string | undefined
  events: string[]
}

export function sidecar(planned: () => Plan): void {
  describe('a sidecar with the folders components and components/sqlite', () => {
    let plan: Plan
    let app: Server
    /** The event that gets the answer RETRY twice. */
    const unready = '{"n":3}'
    const deliveries: Delivery[] = []

    /** Replaces the service. Answers every bulk delivery with a status for each entry. */
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
      // Waits for all members, because a member that joins later ends the sidecar's wait before a redelivery.
      const [kafka, members] = [localKafka(plan.ports.kafka), membersOf(serviceNamed('order-service'))]
      await untilNothingMissing('all members', () => membersMissing(kafka, 'order-service', members))
    })
    after(async () => {
      await stopProcess(plan.folder, 'order-sidecar', 0)
      app.closeAllConnections()
      app.close()
    })

    /** The keys of the events that are sent before and after partitions are added. */
    const keys = Array.from({ length: 12 }, (_, index) => `key ${index}`)
    const valuesOf = (time: string) => keys.map((key) => JSON.stringify({ key, time }))
    async function publishAll(time: string): Promise<number[]> {
      const kafka = localKafka(plan.ports.kafka)
      const sent = keys.map((key) =>
        send(kafka, { topic: 'paymentevents', key, value: Buffer.from(JSON.stringify({ key, time })) }),
      )
      return (await Promise.all(sent)).map(({ partition }) => partition)
    }

    it('delivers the raw values of two topics to the route of each topic, with the service’s token', async () => {
      await publish('orderevents', '{"n":1}')
      await publish('paymentevents', '{"n":2}')
      const [order, payment] = [await arrival('{"n":1}'), await arrival('{"n":2}')]
      expect(order).to.include({ path: '/subscriptions/orderevents', token: entryOf(plan.tokens, 'order-service').app })
      expect(payment).to.include({
        path: '/subscriptions/paymentevents',
        token: entryOf(plan.tokens, 'order-service').app,
      })
    })

    it('redelivers an entry with the answer RETRY every second until the answer is SUCCESS', async () => {
      await publish('orderevents', unready)
      await eventually(() => deliveriesOf(unready)[2], 'it came for the third time')
      await publish('orderevents', '{"n":4}')
      await arrival('{"n":4}')
      const [first, second, ...others] = deliveriesOf(unready)
      expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.at.least(1_000)
      expect(others).to.have.length(1)
    })

    it('delivers every event while an operator adds partitions, although some keys then belong to new partitions', async () => {
      const before = await publishAll('before')
      const env = { ...process.env, Stream__Brokers: localKafka(plan.ports.kafka).bootstrapBrokers.join() }
      const { stdout } = await promisify(execFile)(process.execPath, ['packages/cli/src/cli.ts', 'partitions'], {
        cwd: repository,
        env,
      })
      for (const topic of ['orderevents', 'paymentevents']) {
        expect(stdout).to.contain(`${topic}: ${partitions.containers} partitions, previously ${partitions.processes}`)
      }
      const after = await publishAll('after')
      expect(Math.max(...before)).to.be.below(partitions.processes)
      expect(Math.max(...after)).to.be.at.least(partitions.processes)
    })

    it('refuses a request that is larger than its limit, with a gRPC error', async () => {
      const { daprHttp: HttpPort, daprGrpc: GrpcPort } = entryOf(plan.ports.services, 'order-service')
      const client = createSidecar({
        Sidecar: { Host: '127.0.0.1', HttpPort, GrpcPort, Token: entryOf(plan.tokens, 'order-service').dapr },
        Stream: { PubSub: 'pubsub' },
        State: { Store: 'statestore' },
      })
      const value = Buffer.alloc(17 * 2 ** 20, 'x')
      const publishing = client.publish('orderevents', [{ topic: 'orderevents', key: 'k', value, headers: {} }])
      const error = await publishing.catch((thrown: unknown) => thrown)
      expect(error).to.include({ failure: 'refused' })
      expect((error as Error).message).to.contain('RESOURCE_EXHAUSTED: grpc: received message larger than max')
    })

    it('refuses requests without its token, and has loaded all files of both folders', async () => {
      const url = `http://127.0.0.1:${entryOf(plan.ports.services, 'order-service').daprHttp}/v1.0/metadata`
      expect((await fetch(url)).status).to.equal(401)
      const response = await fetch(url, { headers: { 'dapr-api-token': entryOf(plan.tokens, 'order-service').dapr } })
      const metadata = (await response.json()) as Record<string, { name?: string; topic?: string }[]>
      const streams = ['pubsub', ...consumerComponents]
      expect(metadata.components?.map(({ name }) => name)).to.include.members(['env-secrets', ...streams, 'statestore'])
      const topics = metadata.subscriptions?.map(({ topic }) => topic)
      const prompt = ['paymentevents', 'deadlines'].flatMap((topic) => consumerComponents.map(() => topic))
      expect(topics).to.have.members(['orderevents', ...prompt])
      expect(metadata.resiliencies).to.deep.equal([{ name: 'resiliency' }])
      expect(metadata.enabledFeatures ?? []).to.not.include('HotReload')
    })

    it('consumes added partitions automatically, and gets all events from before and after the addition', async () => {
      await eventually(
        async () => (await groupMissing(localKafka(plan.ports.kafka), 'order-service', new Set())) === undefined,
        'a member for every partition',
      )
      for (const value of [...valuesOf('before'), ...valuesOf('after')]) await arrival(value)
    })

    it('becomes ready after a kill and a restart only when a live member has the partitions', async () => {
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
