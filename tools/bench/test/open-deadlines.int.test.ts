import { expect } from 'chai'
import { withBenchStack } from '../support/bench-stack.ts'
import { countArmed, fill } from '../support/open-deadlines.ts'
import { openStore } from '../support/store.ts'

const count = Number(process.env.ORDERS || 100_000)

describe('a rebuild of order-service', () => {
  it(`arms each deadline of ${count} open orders once, without a decision or a publication`, async function () {
    this.timeout(20 * 60_000)
    await withBenchStack(
      ['kafka'],
      () => {},
      async (stack) => {
        // The reminders are overdue, so a service would send them at once.
        const { published } = await fill(
          stack,
          () => {},
          count,
          () => Date.now() - 3_600_000,
        )
        expect(published).to.equal(0)
        expect(countArmed(stack.database('order'))).to.deep.equal({ entries: 2 * count, different: 2 * count })
        const store = openStore(stack.database('order'))
        expect(store.count({ key: '%||order/%' })).to.equal(count)
        expect(store.count({ key: '%||order/%', content: '%"OrderReminded"%' })).to.equal(0)
        store.close()
      },
    )
  })
})
