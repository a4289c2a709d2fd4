import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { ContainerName } from './container-control.ts'
import { halfWritten } from './half-written.ts'
import { expectPaidOnce } from './ledger.ts'
import { startLoad } from './load.ts'
import type { RunningContainers } from './running-containers.ts'

/** Those without which no order can be accepted. */
const needed: ContainerName[] = ['kafka', 'mongo', 'order-pod', 'order-service', 'order-sidecar']
/** Those that an order waits for. */
const waited: ContainerName[] = ['payment-pod', 'payment-service', 'payment-sidecar']

const perSecond = 6

/** Nothing is lost, doubled or half written when a container is killed while orders come in. */
export function survival(running: () => RunningContainers): void {
  describe('when a container is killed under load', function () {
    this.timeout(240_000)

    for (const name of [...needed, ...waited]) {
      it(`${name}: every accepted order is paid once`, async function () {
        const stack = running()
        const load = startLoad(stack.orderUrl, perSecond)
        await delay(1_500)
        await stack.kill(name)
        await delay(1_000)
        await stack.restart(name)
        await delay(1_500)
        const placed = await load.end()
        const retried = placed.filter(({ attempts }) => attempts > 1).length
        await expectPaidOnce(
          stack,
          placed.map(({ id }) => id),
        )
        for (const service of ['order-service', 'payment-service']) {
          expect(await halfWritten(stack.mongo, service), 'half written').to.deep.equal([])
        }
        expect(retried > 0, 'the kill was felt').to.equal(needed.includes(name))
        if (this.test) this.test.title += ` (${placed.length} orders, ${retried} of them retried)`
      })
    }
  })
}
