import { anOrder, orderUrl, orderWith, post, send } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { duplicates, kills, reacting, testedServices } from '@orderflow/test-kit'
import { localOperator } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { killedStore } from '../specs/faults/killed-processes.ts'
import { lostWrites } from '../specs/faults/lost-writes.ts'
import { theOrderFlow } from '../specs/flow.ts'
import { failed, succeeded } from '../specs/operations/commands.ts'
import { rebuiltStores } from '../specs/operations/rebuild.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { startOperator } from '../support/operators/operate.ts'

const tested = reacting(await testedServices())

/** Tests the parts that depend on the store. `make -C tools test-stores` runs all tests with PostgreSQL. */
describe('the system as processes of one machine with PostgreSQL', () => {
  let checkout: LocalCheckout
  let stack: StartedCheckout
  let warm: ReturnType<typeof startOperator>
  before(async () => {
    checkout = await localCheckout('system-postgresql')
    stack = await checkout.start('STORE=postgresql')
    warm = startOperator(stack, checkout.ports)
  })
  after(async () => {
    warm?.close()
    await checkout?.remove()
  })
  const running = () => stack
  const operator = () => localOperator(stack, checkout.ports.postgresql, warm.operate)

  theOrderFlow(running)
  for (const service of tested) describe(service.name, () => duplicates(service, running, operator))
  kills(tested, running)
  killedStore(running)
  lostWrites(running, operator)
  rebuiltStores(running, operator)

  describe('a change of the store', () => {
    const make = async (...args: string[]) => succeeded(await checkout.make(...args))
    const orderIs = async (id: string) => (await send(`${orderUrl(stack)}/v1/orders/${id}`)).status

    it('fails while the stack runs, and names the command to stop it', async () => {
      const refused = failed(await checkout.make('up', 'STORE=sqlite'))
      expect(refused).to.contain(
        'error: the stack already runs (STORE=postgresql)\nnext: make down, then make up STORE=sqlite',
      )
    })

    it('prints the folder with the previous store’s data, rebuilds the other store, and uses this data again after a change back', async () => {
      const { id } = (await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)).body
      await orderWith(orderUrl(stack), id, 'Paid')
      await make('down')
      expect(await make('up', 'STORE=sqlite')).to.contain(
        'store: sqlite; the data of postgresql stays in .stack/data/postgresql, and make up STORE=postgresql continues with it',
      )
      expect(await orderIs(id)).to.equal(200)
      expect(await make('status')).not.to.contain('postgresql')
      await make('down')
      expect(await make('up', 'STORE=postgresql')).to.contain('the data of sqlite stays in .stack/data/order.db')
      expect(await orderIs(id)).to.equal(200)
    })
  })
})
