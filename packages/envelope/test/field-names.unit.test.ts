import { expect } from 'chai'
import { type CamelCase, camelCase, type PascalCase, pascalCase } from '../src/index.ts'

describe('camelCase and pascalCase', () => {
  interface Created {
    OrderId: string
    Lines?: { Sku: string }[]
  }
  const created: Created = { OrderId: '1', Lines: [{ Sku: 'a' }] }

  it("converts the first letter of the object's fields, but not of nested fields", () => {
    const order: CamelCase<Created> = camelCase(created)
    expect(order).to.deep.equal({ orderId: '1', lines: [{ Sku: 'a' }] })
  })

  it('restores the names of the contract', () => {
    const back: PascalCase<CamelCase<Created>> = pascalCase(camelCase(created))
    expect(back satisfies Created).to.deep.equal(created)
  })

  it('keeps optional fields optional', () => {
    const order: CamelCase<Created> = { orderId: '1' }
    expect(pascalCase(order)).to.deep.equal({ OrderId: '1' })
  })
})
