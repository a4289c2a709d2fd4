import { localOperator } from '@orderflow/test-kit/stacks'
import { startOperator } from '../operators/operate.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from './local-checkout.ts'

/** Starts a stack in a copy of the repository before the tests of a `describe`, with a running operators' program, and removes both afterwards. */
export function operatedCheckout(suite: string) {
  let checkout: LocalCheckout
  let stack: StartedCheckout
  let warm: ReturnType<typeof startOperator>
  before(async () => {
    checkout = await localCheckout(suite)
    stack = await checkout.start()
    warm = startOperator(stack, checkout.ports)
  })
  after(async () => {
    warm?.close()
    await checkout?.remove()
  })
  return {
    running: () => stack,
    operate: () => warm.operate,
    operator: () => localOperator(stack, checkout.ports.postgresql, warm.operate),
  }
}
