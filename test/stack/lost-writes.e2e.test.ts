import { localOperator } from '@orderflow/test-kit/stacks'
import { lostWrites } from '../specs/faults/lost-writes.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { startOperator } from '../support/operators/operate.ts'

/** `make -C tools test-stores` runs the same specs with PostgreSQL. */
describe('the system as processes of one machine with SQLite', () => {
  let checkout: LocalCheckout
  let stack: StartedCheckout
  let warm: ReturnType<typeof startOperator>
  before(async () => {
    checkout = await localCheckout('lost-writes')
    stack = await checkout.start()
    warm = startOperator(stack, checkout.ports)
  })
  after(async () => {
    warm?.close()
    await checkout?.remove()
  })

  lostWrites(
    () => stack,
    () => localOperator(stack, checkout.ports.postgresql, warm.operate),
  )
})
