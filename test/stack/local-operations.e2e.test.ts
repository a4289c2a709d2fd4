import { operatorCommands } from '../specs/operations/commands.ts'
import { deadLetterCommands } from '../specs/operations/dead-letter-commands.ts'
import { rebuiltStores } from '../specs/operations/rebuild.ts'
import { trustedPublishers } from '../specs/rights/trust.ts'
import { operatedCheckout } from '../support/checkouts/operated-checkout.ts'

describe('operators of a system as processes', () => {
  const { running, operate, operator } = operatedCheckout('operated')

  deadLetterCommands(running, operate)
  trustedPublishers(running)
  rebuiltStores(running, operator)
  // The last of these specs stops the stack.
  operatorCommands(running)
})
