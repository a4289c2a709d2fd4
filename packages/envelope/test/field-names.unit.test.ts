import { expect } from 'chai'
import { type CamelCase, camelCase, type PascalCase, pascalCase } from '../src/index.ts'

describe('the names of fields in an API', () => {
  interface Created {
    OrderId: string
    Lines?: { Sku: string }[]
  }
  const created: Created = { OrderId: '1', Lines: [{ Sku: 'a' }] }

  it('begin with a small letter, those of fields in other fields as in the contract', () => {
    const order: CamelCase<Created> = camelCase(created)
    expect(order).to.deep.equal({ orderId: '1', lines: [{ Sku: 'a' }] })
  })

  it('lead back to the names in the contract', () => {
    const back: PascalCase<CamelCase<Created>> = pascalCase(camelCase(created))
    expect(back satisfies Created).to.deep.equal(created)
  })

  it('keep optional fields optional', () => {
    const order: CamelCase<Created> = { orderId: '1' }
    expect(pascalCase(order)).to.deep.equal({ OrderId: '1' })
  })
})
