import { localOperator } from '@orderflow/test-kit/stacks'
import { operatorCommands } from '../specs/operations/commands.ts'
import { deadLetterCommands } from '../specs/operations/dead-letter-commands.ts'
import { rebuiltStores } from '../specs/operations/rebuild.ts'
import { trustedPublishers } from '../specs/rights/trust.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { startOperator } from '../support/operators/operate.ts'

describe('operators of a system as processes', () => {
  let checkout: LocalCheckout
  let stack: StartedCheckout
  let warm: ReturnType<typeof startOperator>
  before(async () => {
    checkout = await localCheckout('operated')
    stack = await checkout.start()
    warm = startOperator(stack, checkout.ports)
  })
  after(async () => {
    warm?.close()
    await checkout?.remove()
  })
  const running = () => stack

  deadLetterCommands(running, () => warm.operate)
  trustedPublishers(running)
  rebuiltStores(running, () => localOperator(stack, checkout.ports.postgresql, warm.operate))
  // The last of these specs stops the stack.
  operatorCommands(running)
})
