import { services, storedServices } from '@orderflow/stack'
import { type ContainerName, storeServer } from '@orderflow/test-kit/containers'
import { expect } from 'chai'
import { succeeded } from '../specs/operations/commands.ts'
import { type PayingLoad, startPayingLoad } from './load/paying-load.ts'
import type { RunningContainers } from './running-containers.ts'
import { unlisted } from './unlisted.ts'

/** The containers that are needed to accept an order, and then those that are needed to pay it. */
const accepting: ContainerName[] = ['kafka', storeServer, 'order-service', 'order-sidecar']
const paying: ContainerName[] = ['payment-service', 'payment-sidecar']
const pods: ContainerName[] = services.map(({ role }) => `${role}-pod`)

const perSecond = 2
/** The number of orders that are accepted before a container is killed. */
const some = 4

export function survival(running: () => RunningContainers): void {
  describe('a container that is killed under load', () => {
    let stack: RunningContainers
    let load: PayingLoad
    before(() => {
      stack = running()
      load = startPayingLoad(stack, perSecond)
    })

    for (const name of accepting) {
      it(`makes order-service reject orders only until the container runs again: ${name}`, async () => {
        await load.accepts(some)
        await stack.kill(name)
        await load.isRefused()
        await stack.restart(name)
        await load.accepts(some)
      })
    }

    for (const name of paying) {
      it(`does not prevent order-service from accepting orders: ${name}`, async () => {
        await load.accepts(some)
        await stack.kill(name)
        await load.accepts(some)
        await stack.restart(name)
      })
    }

    it('a pod starts again with `make up`, together with the services in its network', async () => {
      await load.accepts(some)
      await Promise.all(pods.map((pod) => stack.kill(pod)))
      await load.isRefused()
      const printed = succeeded(await stack.make('up'))
      for (const { name } of services) expect(printed).to.match(new RegExp(`${name}.*: restarted to use the network`))
      await load.accepts(some)
    })

    it(`recovers three times: ${storeServer}`, async () => {
      for (let kills = 0; kills < 3; kills += 1) {
        await load.accepts(some)
        await stack.kill(storeServer)
        await stack.restart(storeServer)
      }
    })

    it('leaves every order of the load listed, and paid once', async function () {
      const { orders, retried } = await load.endsPaidOnce()
      for (const { name } of storedServices) expect(await unlisted(stack.stores, name)).to.deep.equal([])
      if (this.test) this.test.title += ` (${orders} orders, ${retried} requests sent again)`
    })
  })
}
