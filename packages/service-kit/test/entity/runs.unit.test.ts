import { setImmediate as nextTurn } from 'node:timers/promises'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import fc from 'fast-check'
import { createConsumers } from '../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../src/stream/log/record.ts'
import { createMask } from '../../src/telemetry/mask.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { openTrust } from '../support/open-trust.ts'
import { accountId, bugs, Clock, event, logOf, outage, rebuild, revisionsIn, start } from './account.ts'

type Kind = 'good' | 'refused' | 'invalid' | 'bug' | 'bug for ever'
const totals: Record<Kind, number> = { good: 1, refused: 2_000, invalid: -1, bug: 1, 'bug for ever': 1 }

/** Returns a record of the account's key, and the Id of its order. */
function recordOf(kind: Kind, offset: number): { entry: BulkEntry; orderId: string } {
  const created = event('OrderCreated')
  const orderId = (created.Payload as { OrderId: string }).OrderId
  const value = Buffer.from(JSON.stringify({ ...created, Payload: { ...created.Payload, Total: totals[kind] } }))
  if (kind.startsWith('bug')) bugs.set(orderId, kind === 'bug' ? 1 : 1_000)
  const metadata = { __partition: '0', __offset: String(offset), __key: accountId, __timestamp: String(offset) }
  return { entry: { entryId: String(offset), value, metadata }, orderId }
}

/** Delivers records as the sidecar does: it repeats those whose status is RETRY. */
async function deliver(sidecar: FakeSidecar, records: readonly BulkEntry[], size: number) {
  const process = start(sidecar, new Clock())
  const captured = capturedLog()
  const consumer = createConsumers(
    { orderevents: process.reactions.orderevents ?? {} },
    {
      app: 'payment-service',
      publish: process.publishRecord,
      refusals: new Set(['too-much']),
      trust: openTrust,
      appendTimes: async () => new Map(),
      log: Object.assign(captured.log, { mask: createMask() }),
      metrics: createMetrics(),
      now: () => new Date('2026-11-21T10:00:00Z'),
    },
  ).orderevents
  for (let from = 0; from < records.length; from += size) {
    let open = records.slice(from, from + size)
    for (let turn = 0; open.length > 0; turn += 1) {
      if (turn > 100) throw new Error('records are delivered for ever')
      const statuses = (await consumer?.deliver([[...open]])) ?? []
      open = open.filter((_, index) => statuses[index]?.status === 'RETRY')
      // The next delivery comes over a connection.
      await nextTurn()
    }
  }
  return process
}

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`many events of one entity in a delivery, on ${type}`, () => {
    it('take a few writes and publications, because they are decided together', async () => {
      const sidecar = new FakeSidecar(type)
      const records = Array.from({ length: 200 }, (_, offset) => recordOf('good', offset))
      const process = await deliver(
        sidecar,
        records.map(({ entry }) => entry),
        200,
      )
      expect((await process.state(noTenant, accountId)).orders).to.have.length(200)
      const { transact, save, publish } = sidecar.calls
      expect(transact + save).to.be.at.most(6)
      expect(publish).to.be.at.most(6)
    })

    it('take effect in their sequence, although some of them failed', async () => {
      const kind = fc.constantFrom<Kind>('good', 'good', 'good', 'refused', 'invalid', 'bug', 'bug for ever')
      const backlog = fc.record({
        kinds: fc.array(kind, { minLength: 2, maxLength: 16 }),
        size: fc.integer({ min: 2, max: 16 }),
        writes: fc.array(fc.boolean(), { maxLength: 6 }),
        publications: fc.array(fc.boolean(), { maxLength: 6 }),
      })
      await fc.assert(
        fc.asyncProperty(backlog, async ({ kinds, size, writes, publications }) => {
          const sidecar = new FakeSidecar(type)
          const failing = (all: boolean[], call: 'transact' | 'save' | 'publish') => {
            const next = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
            const left = [...all]
            Object.assign(sidecar, {
              [call]: async (...args: unknown[]) => {
                if (left.shift()) throw outage()
                await next(...args)
              },
            })
          }
          failing(writes, 'transact')
          failing(writes, 'save')
          failing(publications, 'publish')
          const records = kinds.map(recordOf)
          const process = await deliver(
            sidecar,
            records.map(({ entry }) => entry),
            size,
          )
          const isGood = (index: number) => ['good', 'bug'].includes(kinds[index] as string)
          const good = records.filter((_, index) => isGood(index)).map(({ orderId }, index) => `${orderId} ${index}`)
          const state = await process.state(noTenant, accountId)
          expect(state.orders.join()).to.equal(good.join())
          const log = logOf(sidecar)
          expect(revisionsIn(log)).to.deep.equal(log.map((_, index) => index + 1))
          expect(await rebuild(start(new FakeSidecar()), log)).to.deep.equal(state)
          const dead = sidecar.published.filter(({ topic }) => topic === 'orderevents.dead')
          const offsets = new Set(dead.map(({ headers }) => Number(headers['deadletter-offset'])))
          expect([...offsets].toSorted((a, b) => a - b)).to.deep.equal(
            kinds.flatMap((_, index) => (isGood(index) ? [] : [index])),
          )
        }),
        { numRuns: 100 },
      )
    })
  })
}
