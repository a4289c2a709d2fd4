import { testedServices } from '@orderflow/test-kit'
import { localOperator } from '@orderflow/test-kit/stacks'
import { forgottenCustomers } from '../specs/personal/forgotten.ts'
import { personalData } from '../specs/personal/personal-data.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { startOperator } from '../support/operators/operate.ts'

const tested = await testedServices()

describe('personal data', () => {
  let checkout: LocalCheckout
  let stack: StartedCheckout
  let warm: ReturnType<typeof startOperator>
  before(async () => {
    checkout = await localCheckout('personal-data')
    stack = await checkout.start()
    warm = startOperator(stack, checkout.ports)
  })
  after(async () => {
    warm?.close()
    await checkout?.remove()
  })
  const running = () => stack
  const operate = () => warm.operate

  personalData(tested, running, operate)
  forgottenCustomers(running, () => localOperator(stack, checkout.ports.postgresql, warm.operate))
})
