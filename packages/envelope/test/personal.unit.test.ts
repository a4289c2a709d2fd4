import { expect } from 'chai'
import { mayShow, meansOneOf, openFields, personalFields, personalNames } from '../src/index.ts'

describe('personalFields and meansOneOf', () => {
  it('lists the personal fields of each event and of its envelope', () => {
    const ofOrders = ['/TenantUserID', '/Payload/CustomerName', '/Payload/CustomerTaxId']
    expect(personalFields('OrderCreated@1')).to.deep.equal(ofOrders)
    expect(personalFields('PaymentApproved@1')).to.deep.equal(['/TenantUserID'])
  })

  const isPersonal = meansOneOf(personalNames)
  for (const name of [
    ...['CustomerTaxId', 'customerTaxId', 'customertaxid', 'CustomerTaxID', 'customer_tax_id', 'Customer Tax-Id'],
    ...['CustomerTaxIdd', 'CustomrName', 'CutsomerName', 'legacyCustomerName', 'Payload.CustomerName', 'tenantuserid'],
  ]) {
    it(`recognizes the personal name ${name}`, () => expect(isPersonal(name)).to.equal(true))
  }

  it('ignores other names, and names of other fields in the contract', () => {
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

describe('mayShow', () => {
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
    it(`shows the value ${value} of a field ${name}`, () => expect(mayShow(name, value)).to.equal(true))
  }

  const hidden: [name: string, value: string | number, why: string][] = [
    ['CustomerName', 'Ada', 'personal'],
    ['CustomerTaxId', 1, 'personal'],
    ['TenantUserID', guid, 'personal'],
    ['Note', 'x', 'an unknown field'],
    ['total', 1, 'an unknown field'],
    ['OrderId', 'GB-123456789', 'not an id'],
    ['Total', 'Ada', 'not a number'],
    ['Total', 'Ada 1', 'not a number'],
    ['Total', '1 Ada', 'not a number'],
    ['Total', '1e-', 'not a number'],
    ['CreationDate', 'Ada, 2026', 'not a date'],
    ['CreationDate', '2026, Ada', 'not a date'],
    ['Source', 'Ada', 'not one of the words'],
    ['Reason', 'out of money', 'free text'],
    ['Payload', '1', 'not an object'],
    ['AppName', 'x'.repeat(65), 'too long'],
  ]
  for (const [name, value, why] of hidden) {
    it(`hides the value ${String(value).slice(0, 20)} of a field ${name}: ${why}`, () =>
      expect(mayShow(name, value)).to.equal(false))
  }

  it('treats only Headers and Payload as open fields', () => {
    expect(openFields).to.deep.equal(['Headers', 'Payload'])
  })
})
