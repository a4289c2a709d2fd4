import { expect } from 'chai'
import { CliError } from '../../src/lib/error.ts'
import { namesOf } from '../../src/new-service/template.ts'

const code = "import type { Page } from '@orderflow/service-kit'"

describe('namesOf', () => {
  const cases: [name: string, one: string, many: string, type: string, prose: string][] = [
    ['shipping-service', 'shipping', 'shippings', 'Shipping', 'Shippings'],
    ['gift-card-service', 'gift-card', 'gift-cards', 'GiftCard', 'Gift cards'],
    ['delivery-service', 'delivery', 'deliveries', 'Delivery', 'Deliveries'],
    ['address-service', 'address', 'addresses', 'Address', 'Addresses'],
    ['day-2-service', 'day-2', 'day-2s', 'Day2', 'Day 2s'],
  ]
  for (const [name, one, many, type, prose] of cases) {
    it(`derives the plural ${many} from ${name}`, () => {
      const names = namesOf(name, code)
      const found = ['spare-part', 'spare-parts', 'SparePart', 'Spare parts'].map((form) => names.get(form))
      expect(found).to.deep.equal([one, many, type, prose])
    })
  }

  const bad = [
    '',
    'shipping',
    'Shipping-service',
    'a b-service',
    '../x-service',
    '9-service',
    '-service',
    'a--b-service',
  ]
  const long = `${'x'.repeat(33)}-service`
  // The last two names need the types Date and Page. JavaScript already has Date, and `code` already has Page.
  for (const name of [...bad, long, 'date-service', 'page-service']) {
    it(`refuses the name ${name || '(empty)'}`, () => {
      expect(() => namesOf(name, code))
        .to.throw(CliError)
        .with.property('nextStep')
        .that.is.a('string')
    })
  }
})
