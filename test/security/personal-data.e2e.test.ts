import { testedServices } from '@orderflow/test-kit'
import { forgottenCustomers } from '../specs/personal/forgotten.ts'
import { personalData } from '../specs/personal/personal-data.ts'
import { operatedCheckout } from '../support/checkouts/operated-checkout.ts'

const tested = await testedServices()

describe('personal data', () => {
  const { running, operate, operator } = operatedCheckout('personal-data')

  personalData(tested, running, operate)
  forgottenCustomers(running, operator)
})
