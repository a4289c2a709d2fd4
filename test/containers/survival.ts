import { setTimeout as delay } from 'node:timers/promises'
import { anOrder, orderUrl, orderWith, post } from '@orderflow/chaos/clients/api'
import { services } from '@orderflow/stack'
import { expect } from 'chai'
import type { ContainerName } from './container-control.ts'
import { halfWritten } from './half-written.ts'
import { startPayingLoad } from './paying-load.ts'
import type { RunningContainers } from './running-containers.ts'

/** Those without which no order can be accepted, and those that an accepted order waits for. */
const accepting: ContainerName[] = ['kafka', 'mongo', 'order-pod', 'order-service', 'order-sidecar']
const paying: ContainerName[] = ['payment-pod', 'payment-service', 'payment-sidecar']

const perSecond = 4
/** Longer than a service waits for its sidecar, and so for the database (10 s). */
const mongoDownMs = 12_000

/** Nothing is lost, doubled or half written when a container is killed while orders come in. */
export function survival(running: () => RunningContainers): void {
  describe('a container that is killed under load', function () {
    this.timeout(300_000)
    let stack: RunningContainers
    before(() => {
      stack = running()
    })

    const dieAndComeBack = async (name: ContainerName, downMs: number) => {
      await delay(1_500)
      await stack.kill(name)
      await delay(downMs)
      await stack.restart(name)
    }
    const nothingHalfWritten = async () => {
      for (const { name } of services) expect(await halfWritten(stack.mongo, name)).to.deep.equal([])
    }

    for (const name of [...accepting, ...paying]) {
      it(`loses nothing and doubles nothing: ${name}`, async function () {
        const load = startPayingLoad(stack, perSecond)
        await dieAndComeBack(name, name === 'mongo' ? mongoDownMs : 1_000)
        await delay(1_500)
        const { orders, retried } = await load.endsPaidOnce()
        await nothingHalfWritten()
        expect(retried > 0, 'a request failed meanwhile').to.equal(accepting.includes(name))
        if (this.test) this.test.title += ` (${orders} orders, ${retried} requests sent again)`
      })
    }

    it('leaves a transaction open for seconds only, since everybody else waits for it', async () => {
      // As the component does when its caller dies in the middle of a write: it never aborts (components-contrib, Multi).
      const session = stack.mongo.startSession()
      session.startTransaction()
      const lists = { _id: { $regex: '^order-service\\|\\|list/' } }
      const documents = stack.mongo.db('order-service').collection<{ _id: string }>('daprCollection')
      expect((await documents.updateMany(lists, { $set: { held: true } }, { session })).matchedCount).to.be.above(0)
      const { body } = await post<{ id: string }>(`${orderUrl(stack)}/v1/orders`, anOrder)
      await orderWith(orderUrl(stack), body.id, 'Paid')
      await session.abortTransaction().catch(() => {})
      await session.endSession()
    })

    it('leaves no half of a transaction, when it is mongo again and again', async function () {
      const load = startPayingLoad(stack, 2 * perSecond)
      for (let kills = 0; kills < 3; kills += 1) await dieAndComeBack('mongo', 100)
      const { orders } = await load.endsPaidOnce()
      await nothingHalfWritten()
      if (this.test) this.test.title += ` (${orders} orders)`
    })
  })
}
