import { anOrder, orderUrl, orderWith, post, send } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/domain'
import { docker } from '@orderflow/stack/containers'
import { expect } from 'chai'
import { operatorCommands, succeeded } from '../specs/commands.ts'
import type { RunningContainers } from './running-containers.ts'

/** The commands of an operator, and what they leave at the engine. Stops the stack, and removes it. */
export function commands(running: () => RunningContainers): void {
  describe('the commands', function () {
    this.timeout(180_000)

    /** Objects of the engine that belong to the stack. */
    async function objects(kind: 'container' | 'network' | 'volume'): Promise<string[]> {
      const all = kind === 'container' ? ['--all'] : []
      const own = `label=com.docker.compose.project=${running().project}`
      return (await docker(kind, 'ls', '--quiet', ...all, '--filter', own)).split('\n').filter(Boolean)
    }

    it('make down leaves volumes and nothing else, and make up makes a stack that goes on with them', async () => {
      const { make } = running()
      const orders = `${orderUrl(running())}/v1/orders`
      const { body } = await post<Order>(orders, anOrder)
      const paid = await orderWith(orderUrl(running()), body.id, 'Paid')
      succeeded(await make('down'))
      expect([await objects('container'), await objects('network')]).to.deep.equal([[], []])
      expect(await objects('volume')).to.have.length(3)
      succeeded(await make('up'))
      expect((await send<Order>(`${orders}/${body.id}`)).body).to.deep.equal(paid)
    })

    operatorCommands(running)

    it('make clean has left no volume', async () => {
      expect(await objects('volume')).to.deep.equal([])
    })
  })
}
