import { expect } from 'chai'
import { mayShow, meansOneOf, openFields, personalFields, personalNames } from '../src/index.ts'

describe('what is personal', () => {
  it('is told of each event, with the fields of its envelope', () => {
    const ofOrders = ['/TenantUserID', '/Payload/CustomerName', '/Payload/CustomerTaxId']
    expect(personalFields('OrderCreated@1')).to.deep.equal(ofOrders)
    expect(personalFields('PaymentApproved@1')).to.deep.equal(['/TenantUserID'])
  })

  const isPersonal = meansOneOf(personalNames)
  for (const name of [
    ...['CustomerTaxId', 'customerTaxId', 'customertaxid', 'CustomerTaxID', 'customer_tax_id', 'Customer Tax-Id'],
    ...['CustomerTaxIdd', 'CustomrName', 'CutsomerName', 'legacyCustomerName', 'Payload.CustomerName', 'tenantuserid'],
  ]) {
    it(`is known by its name, also as ${name}`, () => expect(isPersonal(name)).to.equal(true))
  }

  it('is not what has another name, or one that the contract gives to something else', () => {
    for (const name of [
      '',
      'Name',
      'AppName',
      'TenantID',
      'OrderId',
      'Total',
      'Reason',
      'customer',
      'tax',
      '__proto__',
    ]) {
      expect(isPersonal(name), name).to.equal(false)
    }
    expect(meansOneOf(['AppNames'])('AppName')).to.equal(false)
  })
})

describe('what may be shown', () => {
  const guid = '5F0C1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
  const shown: [name: string, value: string | number][] = [
    ['Id', guid],
    ['OrderId', guid],
    ['CausationId', guid],
    ['CreationDate', '2026-11-21T09:30:00Z'],
    ['CreationDate', '2026-11-21 09:30:00'],
    ['Total', 12.5],
    ['Total', '-1.5e3'],
    ['Total', '1e+10'],
    ['AppName', 'a'.repeat(64)],
    ['Amount', '12,50'],
    ['Version', 1],
    ['Source', 'Manual'],
    ['AppName', 'legacy shop'],
    ['Name', 'OrderCreated'],
    ['Policy', 'by-hand@1'],
  ]
  for (const [name, value] of shown) {
    it(`is ${value} as ${name}`, () => expect(mayShow(name, value)).to.equal(true))
  }

  const hidden: [name: string, value: string | number, why: string][] = [
    ['CustomerName', 'Ada', 'personal'],
    ['CustomerTaxId', 1, 'personal'],
    ['TenantUserID', guid, 'personal'],
    ['Note', 'x', 'a name that no schema has'],
    ['total', 1, 'a name that no schema has'],
    ['OrderId', 'GB-123456789', 'no id'],
    ['Total', 'Ada', 'no number'],
    ['Total', 'Ada 1', 'no number'],
    ['Total', '1 Ada', 'no number'],
    ['Total', '1e-', 'no number'],
    ['CreationDate', 'Ada, 2026', 'no date'],
    ['CreationDate', '2026, Ada', 'no date'],
    ['Source', 'Ada', 'none of the few words'],
    ['Reason', 'out of money', 'free text'],
    ['Payload', '1', 'no object'],
    ['AppName', 'x'.repeat(65), 'too long'],
  ]
  for (const [name, value, why] of hidden) {
    it(`is not ${String(value).slice(0, 20)} as ${name}: ${why}`, () => expect(mayShow(name, value)).to.equal(false))
  }

  it('is nothing as such of what is open to any publisher', () => {
    expect(openFields).to.deep.equal(['Headers', 'Payload'])
  })
})
