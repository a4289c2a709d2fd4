import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { Lookout } from '../src/health.ts'

/** Nothing listens there. */
const kafka = { bootstrapBrokers: ['127.0.0.1:1'] }

describe('looking at the system', () => {
  let server: Server
  let lookout: Lookout
  let asked = 0
  let now = new Date(0)
  let body = {}
  let answer: () => void | Promise<void> = () => {}
  const never = () => new Promise<void>(() => {})
  let wait: () => Promise<void> = never

  const later = (ms: number) => {
    now = new Date(now.getTime() + ms)
  }

  beforeEach(async () => {
    asked = 0
    now = new Date('2026-01-01T10:00:00.000Z')
    answer = () => {}
    body = {}
    wait = never
    server = createServer(async (_, response) => {
      asked += 1
      await answer()
      response.end(JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    lookout = new Lookout(
      kafka,
      [{ name: 'order-service', url, consumes: [], publishes: {}, dryRun: undefined }],
      () => now,
      () => wait(),
    )
  })
  afterEach(async () => {
    await lookout.close()
    server.close()
    server.closeAllConnections()
  })

  it('happens when somebody asks, once for all who ask at the same time', async () => {
    const seen = await Promise.all([lookout.see(), lookout.see(), lookout.see()])
    expect(asked).to.equal(1)
    expect(new Set(seen).size).to.equal(1)
    expect(seen[0]).to.deep.include({ at: '2026-01-01T10:00:00.000Z', topics: [], groups: [] })
    expect(seen[0]?.services[0]).to.include({ name: 'order-service', state: 'ready', sidecar: 'up' })
    expect(seen[0]?.kafka).to.include({ isUp: false })
  })

  it('names the records that a service is given again and again', async () => {
    const redelivered = [{ topic: 'orderevents', partition: 2, offset: '17', deliveries: 34 }]
    body = { status: 'ready', redelivered }
    expect((await lookout.see()).services[0]).to.deep.include({ state: 'ready', redelivered })
  })

  it('holds for two seconds', async () => {
    const first = await lookout.see()
    later(1_999)
    expect(await lookout.see()).to.equal(first)
    later(1)
    expect((await lookout.see()).at).to.equal('2026-01-01T10:00:02.000Z')
    expect(asked).to.equal(2)
  })

  it('answers with what was seen before where a service takes its time, and with what it said once it did', async () => {
    const first = await lookout.see()
    later(2_000)
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    answer = () => {
      begun.resolve()
      return goOn.promise
    }
    wait = () => begun.promise
    expect(await lookout.see()).to.equal(first)
    expect(asked).to.equal(2)
    wait = never
    goOn.resolve()
    expect((await lookout.see()).at).to.equal('2026-01-01T10:00:02.000Z')
    expect(asked).to.equal(2)
  })

  it('is waited for where what was seen before is older than five seconds', async () => {
    await lookout.see()
    later(5_000)
    wait = async () => {}
    expect((await lookout.see()).at).to.equal('2026-01-01T10:00:05.000Z')
  })
})
