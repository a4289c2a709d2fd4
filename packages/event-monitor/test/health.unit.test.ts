import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { HealthProbe, Latencies } from '../src/health.ts'

/** An address without a server. */
const kafka = { bootstrapBrokers: ['127.0.0.1:1'] }

describe('HealthProbe', () => {
  let server: Server
  let probe: HealthProbe
  let requests = 0
  let now = new Date(0)
  let body = {}
  let answer: () => void | Promise<void> = () => {}
  const never = () => new Promise<void>(() => {})
  let wait: () => Promise<void> = never

  const later = (ms: number) => {
    now = new Date(now.getTime() + ms)
  }

  beforeEach(async () => {
    requests = 0
    now = new Date('2026-01-01T10:00:00.000Z')
    answer = () => {}
    body = {}
    wait = never
    server = createServer(async (_, response) => {
      requests += 1
      await answer()
      response.end(JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    probe = new HealthProbe(
      kafka,
      [{ name: 'order-service', url, consumes: [], publishes: {}, dryRun: undefined }],
      () => now,
      () => wait(),
    )
  })
  afterEach(async () => {
    await probe.close()
    server.close()
    server.closeAllConnections()
  })

  it('reads the state of the services once for simultaneous requests', async () => {
    const statuses = await Promise.all([probe.status(), probe.status(), probe.status()])
    expect(requests).to.equal(1)
    expect(new Set(statuses).size).to.equal(1)
    expect(statuses[0]).to.deep.include({ at: '2026-01-01T10:00:00.000Z', topics: [], groups: [] })
    expect(statuses[0]?.services[0]).to.include({ name: 'order-service', state: 'ready', sidecar: 'up' })
    expect(statuses[0]?.kafka).to.include({ isUp: false })
  })

  it('returns the records that a service receives repeatedly', async () => {
    const redelivered = [{ topic: 'orderevents', partition: 2, offset: '17', deliveries: 34 }]
    body = { status: 'ready', redelivered }
    expect((await probe.status()).services[0]).to.deep.include({ state: 'ready', redelivered })
  })

  it('returns the warnings of a service that is ready', async () => {
    const warnings = ['topic orderevents keeps events for 30 days, but has a deadline in 40 days']
    body = { status: 'ready', warnings }
    expect((await probe.status()).services[0]).to.deep.include({ state: 'ready', warnings })
    body = { status: 'ready' }
    later(2_000)
    expect((await probe.status()).services[0]).to.deep.include({ warnings: [] })
  })

  it('returns the same state for two seconds', async () => {
    const first = await probe.status()
    later(1_999)
    expect(await probe.status()).to.equal(first)
    later(1)
    expect((await probe.status()).at).to.equal('2026-01-01T10:00:02.000Z')
    expect(requests).to.equal(2)
  })

  it('returns the previous state while a service is slow, and a new state after the service has answered', async () => {
    const first = await probe.status()
    later(2_000)
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    answer = () => {
      begun.resolve()
      return goOn.promise
    }
    wait = () => begun.promise
    expect(await probe.status()).to.equal(first)
    expect(requests).to.equal(2)
    wait = never
    goOn.resolve()
    expect((await probe.status()).at).to.equal('2026-01-01T10:00:02.000Z')
    expect(requests).to.equal(2)
  })

  it('waits for a new state if the previous state is older than five seconds', async () => {
    await probe.status()
    later(5_000)
    wait = async () => {}
    expect((await probe.status()).at).to.equal('2026-01-01T10:00:05.000Z')
  })
})

describe('Latencies', () => {
  it('limits the number of reactions, because publishers choose their names', () => {
    const latencies = new Latencies()
    for (let index = 0; index < 1_000; index += 1) latencies.add(`Made${index}@1`, index, 1_000)
    latencies.add('Made5@1', 7, 1_000)
    const views = latencies.view(1_000)
    expect(views).to.have.length(101)
    expect(views.find(({ reaction }) => reaction === '(others)')?.count).to.equal(900)
    expect(views.find(({ reaction }) => reaction === 'Made5@1')?.count).to.equal(2)
  })

  it('measures a new reaction separately after the others have ended', () => {
    const latencies = new Latencies()
    for (let index = 0; index < 200; index += 1) latencies.add(`Made${index}@1`, 1, 1_000)
    latencies.add('Packed@1', 5, 61_001)
    expect(latencies.view(61_001)).to.deep.equal([{ reaction: 'Packed@1', p50: 5, p95: 5, count: 1 }])
  })
})
