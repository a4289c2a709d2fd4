import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { namesOf } from '../../src/new-service/names.ts'
import { placeholder, serviceFiles } from '../../src/new-service/template.ts'

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
      const names = namesOf(name)
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
  for (const name of [...bad, long]) {
    it(`refuses the name ${name || '(empty)'}`, () => expectRefusal(() => namesOf(name)))
  }
})

const expectRefusal = (work: () => unknown) =>
  expect(work).to.throw(CliError).with.property('nextStep').that.is.a('string')

describe('serviceFiles', () => {
  const reserved: [reason: string, ...words: string[]][] = [
    ['a reserved word', 'return', 'package', 'enum', 'null', 'static'],
    ['a word that is reserved in some functions', 'await', 'yield', 'arguments', 'eval'],
    ['a global of JavaScript', 'date', 'undefined', 'infinity', 'constructor'],
    ['a type of its code', 'type'],
    ['a function of its imports', 'entity', 'facts', 'model', 'get-route'],
    ['a variable of its own', 'shown', 'context', 'event'],
    ['a file of its own', 'main', 'operate'],
    ['a model of every API', 'problem'],
  ]
  for (const [reason, ...words] of reserved) {
    for (const word of words) {
      it(`refuses ${word}-service, which would define ${reason}`, () =>
        expectRefusal(() => serviceFiles(`${word}-service`, placeholder)))
    }
  }

  for (const word of ['shipping', 'node', 'order-id', 'store', 'key', 'of', 'any', 'the', 'record']) {
    it(`accepts the name ${word}-service`, () => {
      expect([...serviceFiles(`${word}-service`, placeholder).keys()]).to.include(`src/${word}.ts`)
    })
  }

  for (const key of ['Id', 'Class', 'Event', 'Return', 'Await']) {
    it(`renames the field that shows an event's field ${key}`, () => {
      const files = serviceFiles('gift-card-service', { ...placeholder, key })
      expect(files.get('src/gift-card.ts')).to.contain(`event${key}: event.Payload.${key},`)
    })
  }

  it('refuses a topic whose constant the code already has', () =>
    expectRefusal(() => serviceFiles('gift-card-service', { ...placeholder, constant: 'underKey' })))
})
