import { kills, reacting, serviceSpecs, testedServices } from '@orderflow/test-kit'
import { localOperator } from '@orderflow/test-kit/stacks'
import { allSpecs } from '../specs/all.ts'
import { localCommands, withoutStack } from '../specs/operations/local-commands.ts'
import { transactionalProducers } from '../specs/stream/transactions.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { startOperator } from '../support/operators/operate.ts'

const tested = await testedServices()

describe('the system as processes of one machine', () => {
  let checkout: LocalCheckout
  before(async () => {
    checkout = await localCheckout('local')
  })
  after(async () => {
    await checkout?.remove()
  })

  withoutStack(() => checkout)

  describe('a stack that `make up` has started', () => {
    let stack: StartedCheckout
    let warm: ReturnType<typeof startOperator>
    before(async () => {
      stack = await checkout.start()
      warm = startOperator(stack, checkout.ports)
    })
    after(() => warm?.close())
    const running = () => stack
    const operator = () => localOperator(stack, checkout.ports.postgresql, warm.operate)

    localCommands(running)
    allSpecs(running, operator)
    transactionalProducers(running, () => stack.kafka)
    for (const service of tested) serviceSpecs(service, running, operator)
    kills(reacting(tested), running)
  })
})
