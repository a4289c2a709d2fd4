import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import { extentsOf, withAdmin } from '@orderflow/kafka-log'
import { service } from '@orderflow/payment-service/service'
import { type App, createApp, createLog, readSettings } from '@orderflow/service-kit'
import { FakeSidecar, send } from '@orderflow/service-kit/testing'
import { entryOf, groupMissing, type KafkaConnection, kafkaMissing, serviceNamed, sidecarOf } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import {
  ensureTopics,
  localKafka,
  membersMissing,
  membersOf,
  type Plan,
  prepareKafka,
  processSpecs,
  processState,
  releaseFolder,
  signalGroup,
  startProcess,
  stopProcess,
} from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { createProducer } from '@orderflow/test-kit'
import { expect } from 'chai'
import { claimPlan } from '../support/kafka/own-kafka.ts'
import { type FetchProxy, startFetchProxy } from './fetch-proxy.ts'

const name = 'payment-service'
const sidecarName = sidecarOf(serviceNamed(name))
/** More checks than a subscription may miss. The tests check every half second in place of every 15 seconds. */
const enough = 16

/** Payment-service in this process, with a store in memory. Its subscription is that of a real sidecar, which reaches Kafka through a proxy. */
describe('the watchdog of a service with a real sidecar', function () {
  this.timeout(120_000)
  let plan: Plan
  let kafka: KafkaConnection
  let proxy: FetchProxy
  let store: FakeSidecar
  let app: App
  const servers: Server[] = []
  let url: string
  let producer: ReturnType<typeof createProducer>

  before(async () => {
    plan = await claimPlan('stalled')
    const { env } = entryOf(processSpecs(plan), name)
    await startBroker()
    store = new FakeSidecar()
    app = createApp(service, {
      settings: readSettings(service, env),
      log: createLog(name, 'info', { write() {} }),
      sidecar: store,
      now: () => new Date(),
      newId: randomUUID,
    })
    const web = createServer(app.web).listen(0, '127.0.0.1')
    servers.push(web, createServer(app.channel).listen(Number(env.AppChannel__Port), '127.0.0.1'))
    await Promise.all(servers.map((server) => once(server, 'listening')))
    url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
    startSidecar()
    producer = createProducer(kafka)
    await isDelivered(await publish())
  })
  after(async () => {
    await producer?.close()
    await releaseFolder(testFolder('stalled'))
    proxy?.close()
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
  })

  function startSidecar(): void {
    const sidecar = entryOf(processSpecs(plan), sidecarName)
    startProcess(plan.folder, { ...sidecar, env: { ...sidecar.env, Stream__Brokers: `127.0.0.1:${proxy.port}` } })
  }

  /** Starts the broker with a further listener, whose advertised address is that of the proxy. */
  async function startBroker(): Promise<void> {
    await prepareKafka(plan)
    const broker = entryOf(processSpecs(plan), 'kafka')
    kafka = localKafka(plan.ports.kafka)
    proxy ??= await startFetchProxy(plan.ports.postgresql)
    const overrides = [
      `listeners=PLAINTEXT://127.0.0.1:${plan.ports.kafka},PROXIED://127.0.0.1:${plan.ports.postgresql},CONTROLLER://127.0.0.1:${plan.ports.kafkaController}`,
      `advertised.listeners=PLAINTEXT://127.0.0.1:${plan.ports.kafka},PROXIED://127.0.0.1:${proxy.port}`,
      'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT',
    ]
    const args = [...broker.args, ...overrides.flatMap((setting) => ['--override', setting])]
    startProcess(plan.folder, { ...broker, args })
    await eventually(async () => (await kafkaMissing(kafka)) === undefined || undefined, 'the broker', 60_000)
    await ensureTopics(kafka, topics.processes)
  }

  async function publish(): Promise<string> {
    const event = reduced()
    const { OrderId } = event.Payload
    await producer.send({ topic: 'orderevents', key: OrderId, value: JSON.stringify(event) })
    return OrderId
  }
  const isDelivered = (orderId: string) =>
    eventually(
      async () => store.published.some(({ key }) => key === orderId) || undefined,
      `the delivery of ${orderId}`,
      60_000,
    )
  async function check(times: number): Promise<void> {
    for (let turn = 0; turn < times; turn += 1) {
      await delay(500)
      await app.watchdog?.check()
    }
  }
  const liveness = () => send<{ status: string; reason?: string }>(`${url}/livez`)
  const groupOfSidecar = () => {
    const state = processState(plan.folder, sidecarName)
    if (state.state !== 'running') throw new Error(`the sidecar is ${state.state}`)
    return state.group
  }

  it('accepts an idle topic', async () => {
    await check(enough)
    expect(await liveness()).to.deep.include({ status: 200, body: { status: 'up' } })
  })

  it('reports a sidecar that stays a member of its group and fetches nothing, until it fetches again', async () => {
    proxy.isEmpty = true
    const orderId = await publish()
    await check(enough)
    const { status, body } = await liveness()
    expect(await groupMissing(kafka, name, new Set())).to.equal(undefined)
    expect(status).to.equal(503)
    expect(body.reason).to.match(/^the sidecar has delivered nothing from orderevents\/\d for 180 s/)
    const { body: readiness } = await send<{ missing: { stream: string } }>(`${url}/readyz`)
    expect(readiness.missing.stream).to.equal(body.reason)
    expect((await send(`${url}/readyz?exclude=stream&exclude=store`)).status).to.equal(200)
    proxy.isEmpty = false
    await isDelivered(orderId)
    await check(1)
    expect((await liveness()).status).to.equal(200)
  })

  it('accepts a broker that is away, although nothing is fetched, and begins again when it returns', async () => {
    proxy.isEmpty = true
    const orderId = await publish()
    await check(enough / 2)
    await stopProcess(plan.folder, 'kafka', 20_000)
    await check(enough)
    expect((await liveness()).status).to.equal(200)
    await startBroker()
    await check(enough / 2)
    expect((await liveness()).status).to.equal(200)
    proxy.isEmpty = false
    await isDelivered(orderId)
  })

  it('reports a suspended sidecar, whose members Kafka removes from the group, until it delivers again', async () => {
    signalGroup(groupOfSidecar(), 'SIGSTOP')
    const orderId = await publish()
    await check(enough + 8)
    const { status, body } = await liveness()
    signalGroup(groupOfSidecar(), 'SIGCONT')
    expect([status, body.status]).to.deep.equal([503, 'stalled'])
    await isDelivered(orderId)
    await check(1)
    expect((await liveness()).status).to.equal(200)
  })

  it('reports a sidecar that stops reading when records are deleted, and restores the subscription by ending this sidecar', async () => {
    // A member that joins later would begin at a valid position.
    const missing = () => membersMissing(kafka, name, membersOf(serviceNamed(name)))
    await eventually(async () => (await missing()) === undefined || undefined, 'all members', 60_000)
    proxy.isEmpty = true
    // Publishes to each of the three partitions. Then the sidecar’s positions no longer exist.
    for (let count = 0; count < 20; count += 1) await publish()
    await withAdmin(kafka, async (admin) => {
      const partitions = (await extentsOf(admin, ['orderevents'])).map(({ partition, end: offset }) => ({
        partition,
        offset,
      }))
      await admin.deleteRecords({ topics: [{ name: 'orderevents', partitions }] })
    })
    proxy.isEmpty = false
    await delay(2_000)
    const orderId = await publish()
    await check(enough)
    expect(await missing()).to.equal(undefined)
    expect((await liveness()).status).to.equal(503)

    const { env } = entryOf(processSpecs(plan), name)
    const end = (token: string) =>
      fetch(`http://127.0.0.1:${env.Sidecar__HttpPort}/v1.0/shutdown`, {
        method: 'POST',
        headers: { 'dapr-api-token': token },
      })
    expect((await end('wrong')).status).to.equal(401)
    expect((await end(String(env.DAPR_API_TOKEN))).status).to.equal(204)
    await eventually(async () => processState(plan.folder, sidecarName).state !== 'running' || undefined, 'its end')
    expect(processState(plan.folder, sidecarName)).to.deep.equal({ state: 'crashed', exit: 'exit code 0' })
    startSidecar()
    await isDelivered(orderId)
    await check(1)
    expect((await liveness()).status).to.equal(200)
  })
})
