import { randomUUID } from 'node:crypto'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { accountId, Clock, event, Killed, logOf, outage, type Process, rebuild, revisionsIn, start } from './account.ts'

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`an entity in a process that is killed, on ${type}`, () => {
    const created = event('OrderCreated')
    const OrderId = randomUUID()
    const steps: Record<string, (process: Process) => Promise<unknown>> = {
      'an event': (process) => process.react(created),
      'a request with an Idempotency-Key': (process) => process.charge(10, 'key', OrderId),
    }
    for (const [what, step] of Object.entries(steps)) {
      it(`keeps one effect of ${what}, whichever call is its last`, async () => {
        for (const isAfter of [false, true]) {
          for (let killAt = 1; ; killAt += 1) {
            const sidecar = new FakeSidecar(type)
            await start(sidecar).react(event('OrderCreated', 20))
            const first = start(sidecar, new Clock(), { killAt, isAfter })
            const outcome = await Promise.race([step(first), first.killed]).catch((error: unknown) => error)
            if (!(outcome instanceof Killed)) break
            // Another event arrives before the repetition, in a third process.
            await start(sidecar).react(event('OrderCancelled'))
            const second = start(sidecar)
            await step(second)
            await step(start(sidecar))
            const log = logOf(sidecar)
            const state = await second.state(noTenant, accountId)
            expect(state.orders).to.have.length(2)
            expect(revisionsIn(log)).to.deep.equal(log.map((_, index) => index + 1))
            const at = `killed ${isAfter ? 'after' : 'before'} call ${killAt}`
            expect(await rebuild(start(new FakeSidecar()), log), at).to.deep.equal(state)
          }
        }
      })
    }

    it('announces the event of a request that is never repeated', async () => {
      let left = 0
      for (const isAfter of [false, true]) {
        for (let killAt = 1; ; killAt += 1) {
          const [sidecar, clock] = [new FakeSidecar(type), new Clock()]
          const first = start(sidecar, clock, { killAt, isAfter })
          const outcome = await Promise.race([first.charge(1), first.killed]).catch((error: unknown) => error)
          if (!(outcome instanceof Killed)) break
          const next = start(sidecar, clock)
          const { balance } = await next.state(noTenant, accountId)
          left += balance - logOf(sidecar).length
          for (let turn = 0; turn < 10; turn += 1) {
            await next.sweep()
            clock.pass(5_000)
          }
          expect(logOf(sidecar), `killed at call ${killAt}`).to.have.length(balance)
          const { publish } = sidecar.calls
          for (let turn = 0; turn < 5; turn += 1) {
            clock.pass(30_000)
            await next.sweep()
          }
          expect(sidecar.calls.publish, 'publications after all is announced').to.equal(publish)
        }
      }
      expect(left, 'the number of kills between save and announcement').to.be.above(0)
    })

    it('announces the event of a request that failed during an outage of Kafka, without another process', async () => {
      const [sidecar, clock] = [new FakeSidecar(type), new Clock()]
      const process = start(sidecar, clock)
      sidecar.failures.publish.push(outage(), outage())
      const error = await process.charge(1).catch((thrown: unknown) => thrown)
      expect(error).to.have.property('code', 'uncertain')
      await process.sweep()
      expect(logOf(sidecar)).to.have.length(0)
      await process.sweep()
      expect(logOf(sidecar)).to.have.length(1)
    })

    it('keeps an invariant if requests in two processes are decided at the same time', async () => {
      const sidecar = new FakeSidecar(type)
      const [one, other] = [start(sidecar), start(sidecar)]
      sidecar.readTogether(2)
      const results = await Promise.allSettled([one.charge(60), other.charge(60)])
      expect(results.map(({ status }) => status).toSorted()).to.deep.equal(['fulfilled', 'rejected'])
      expect(logOf(sidecar)).to.have.length(1)
    })

    it('decides concurrent requests in one batch, each with the result of the previous one', async () => {
      const sidecar = new FakeSidecar(type)
      const process = start(sidecar)
      const results = await Promise.allSettled([1, 2, 3, 4].map(() => process.charge(30)))
      expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
      expect(revisionsIn(logOf(sidecar))).to.deep.equal([1, 2, 3])
      expect(sidecar.calls.publish).to.be.at.most(2)
    })
  })
}
