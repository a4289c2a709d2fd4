import { services, storedServices } from '@orderflow/cli'
import { expect } from 'chai'
import { succeeded } from '../specs/commands.ts'
import type { ContainerName } from './container-control.ts'
import { type PayingLoad, startPayingLoad } from './paying-load.ts'
import type { RunningContainers } from './running-containers.ts'
import { storeServer } from './settings.ts'
import { unlisted } from './unlisted.ts'

/** Those without which no order can be accepted, and those that an accepted order waits for. */
const accepting: ContainerName[] = ['kafka', storeServer, 'order-service', 'order-sidecar']
const paying: ContainerName[] = ['payment-service', 'payment-sidecar']
const pods: ContainerName[] = services.map(({ role }) => `${role}-pod`)

const perSecond = 2
/** Some orders are under way whenever a container dies. */
const some = 4

/** Nothing is lost, doubled or left out of a list when one container after the other is killed while orders come in. */
export function survival(running: () => RunningContainers): void {
  describe('a container that is killed under load', () => {
    let stack: RunningContainers
    let load: PayingLoad
    before(() => {
      stack = running()
      load = startPayingLoad(stack, perSecond)
    })

    for (const name of accepting) {
      it(`has orders refused until it is back, and no longer: ${name}`, async () => {
        await load.accepts(some)
        await stack.kill(name)
        await load.isRefused()
        await stack.restart(name)
        await load.accepts(some)
      })
    }

    for (const name of paying) {
      it(`leaves order-service free to accept more: ${name}`, async () => {
        await load.accepts(some)
        await stack.kill(name)
        await load.accepts(some)
        await stack.restart(name)
      })
    }

    it('is brought back by make up, with those that had lost their network with it: every pod', async () => {
      await load.accepts(some)
      await Promise.all(pods.map((pod) => stack.kill(pod)))
      await load.isRefused()
      const printed = succeeded(await stack.make('up'))
      for (const { name } of services) expect(printed).to.match(new RegExp(`${name}.*: restarted, to get the network`))
      await load.accepts(some)
    })

    it(`may be ${storeServer} again and again`, async () => {
      for (let kills = 0; kills < 3; kills += 1) {
        await load.accepts(some)
        await stack.kill(storeServer)
        await stack.restart(storeServer)
      }
    })

    it('loses nothing, doubles nothing and leaves nothing out of a list', async function () {
      const { orders, retried } = await load.endsPaidOnce()
      for (const { name } of storedServices) expect(await unlisted(stack.stores, name)).to.deep.equal([])
      if (this.test) this.test.title += ` (${orders} orders, ${retried} requests sent again)`
    })
  })
}
