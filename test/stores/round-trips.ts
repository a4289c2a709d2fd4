import { randomUUID } from 'node:crypto'
import { createEnvelope } from '@orderflow/envelope-schema'
import { service } from '@orderflow/payment-service/service'
import { type App, createApp, createLog, readSettings } from '@orderflow/service-kit'
import { post, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { type Lockstep, openLockstep } from '../support/memory/lockstep.ts'
import { mongodb, postgresql } from '../support/memory/wire.ts'
import { type StoreSidecar, startStoreSidecar } from './store-sidecar.ts'

const stores = {
  // Two round trips are necessary: the save of the list's chunk, and the save of the documents.
  mongodb: { protocol: mongodb, least: 2, most: 6 },
  // One statement saves both.
  postgresql: { protocol: postgresql, least: 1, most: 2 },
}

const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }

/**
 * Counts how often a delivery waits for the network to the store (docs/stores.md).
 * @param uri returns the address of the store’s server, which runs on this machine
 */
export function roundTrips(folder: string, store: keyof typeof stores, uri: () => string): void {
  const { protocol, least, most } = stores[store]
  describe('a delivery of 100 events', () => {
    let lockstep: Lockstep
    let sidecar: StoreSidecar
    let app: App
    before(async () => {
      const server = new URL(uri())
      lockstep = await openLockstep(Number(server.port), protocol)
      server.host = `127.0.0.1:${lockstep.port}`
      // With directConnection, the driver does not connect to the address that the server reports. replicaSet enables
      // transactions.
      if (store === 'mongodb') {
        server.searchParams.set('directConnection', 'true')
        server.searchParams.set('replicaSet', 'rs0')
      }
      sidecar = await startStoreSidecar(folder, store, server.href)
      const log = createLog('payment-service', 'silent')
      // Publishing is disabled, because only the store is measured.
      const silent = { ...sidecar, publish: async () => {} }
      const now = () => new Date()
      app = createApp(service, {
        settings: readSettings(service, tokens),
        log,
        sidecar: silent,
        now,
        newId: randomUUID,
      })
      // Claim a list lane and open all connections before counting.
      for (let time = 0; time < 3; time += 1) await lockstep.roundTripsOf(() => deliver(app, 100))
    })
    after(async () => {
      await sidecar?.kill('SIGTERM')
      lockstep?.close()
    })

    it(`waits for at most ${most} round trips`, async () => {
      const found: number[] = []
      // On a busy machine, a late request may add a round trip. A count is never too low, so the lowest of three is the result.
      for (let time = 0; time < 3; time += 1) found.push(await lockstep.roundTripsOf(() => deliver(app, 100)))
      expect(Math.min(...found), found.join()).to.be.within(least, most)
    })

    it('waits for one round trip for each document if all documents are in one transaction', async () => {
      const writes = Array.from({ length: 20 }, () => ({ key: randomUUID(), value: '{}', guard: 'absent' as const }))
      expect(await lockstep.roundTripsOf(() => sidecar.transact(writes))).to.be.within(20, 26)
    })
  })
}

function deliver(app: App, count: number): Promise<void> {
  const entries = Array.from({ length: count }, (_, offset) => {
    const payload = { OrderId: randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'T', Total: 42.5 }
    const source = { id: randomUUID(), name: 'older-application' }
    const event = createEnvelope({ app: source, type: 'OrderCreated@1', creationDate: new Date(), payload })
    return {
      entryId: String(offset),
      event: Buffer.from(JSON.stringify(event)).toString('base64'),
      metadata: { __key: payload.OrderId, __partition: '0', __offset: String(offset) },
    }
  })
  return withServer(app.channel, async (url) => {
    const headers = { 'dapr-api-token': tokens.APP_API_TOKEN }
    const answer = await post<{ statuses: { status: string }[] }>(
      `${url}/subscriptions/orderevents`,
      { entries },
      headers,
    )
    expect(new Set(answer.body.statuses.map(({ status }) => status))).to.deep.equal(new Set(['SUCCESS']))
  })
}
