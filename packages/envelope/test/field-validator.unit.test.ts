import { mock } from 'node:test'
import { expect } from 'chai'
import { fieldValidator, isGuidField } from '../src/index.ts'
import { sharedAjv } from '../src/validation/ajv.ts'

const validate = fieldValidator({ name: ['OrderCreated@1', 'CustomerName'], total: ['OrderCreated@1', 'Total'] })

describe('fieldValidator', () => {
  it('accepts fields that obey the rules of the event', () => {
    expect(validate({ name: 'Ada', total: 0, other: null })).to.deep.equal([])
  })

  it('lists every problem with the field names of the document', () => {
    expect(validate({ Name: 'Ada', total: '1' })).to.deep.equal([
      { pointer: '/name', message: 'is missing', hint: 'rename Name to name' },
      {
        pointer: '/total',
        message: 'must be a number, not a string',
        hint: 'send it without quotes: 12.5, not "12.5"',
      },
    ])
    expect(validate({ name: '', total: 1e13 }).map(({ message }) => message)).to.deep.equal([
      'must not be empty',
      'must be at most 1000000000000',
    ])
  })

  it('rejects texts that no event may contain, but only in fields of the event', () => {
    const [problem, ...others] = validate({ name: 'Ada\0', total: 1, other: '\0' })
    expect(problem).to.include({ pointer: '/name', message: 'has U+0000 or a lone surrogate in a text or key' })
    expect(others).to.deep.equal([])
    expect(validate({ name: '\ud800', total: -1 }).map(({ pointer }) => pointer)).to.have.members(['/name', '/total'])
    expect(validate({ name: ' \u3000', total: 1 }).map(({ message }) => message)).to.deep.equal(['must not be blank'])
  })

  it('rejects a document that is not an object', () => {
    expect(validate(null).map(({ message }) => message)).to.deep.equal(['must be an object, not null'])
  })

  it('throws an error if one of the given fields does not exist in its event', () => {
    expect(() => fieldValidator({ name: ['OrderCreated@1', 'Customer'] })).to.throw('Customer')
  })

  it('compiles the same fields once, because Ajv keeps every compiled schema', () => {
    const compile = mock.method(sharedAjv(), 'compile')
    for (let copies = 0; copies < 100; copies += 1) fieldValidator({ id: ['OrderCreated@1', 'OrderId'] })
    expect(compile.mock.callCount()).to.be.at.most(1)
    mock.restoreAll()
  })
})

describe('isGuidField', () => {
  it('returns true for fields whose values receivers convert to lower case', () => {
    expect(isGuidField('PaymentApproved@1', 'OrderId')).to.equal(true)
    expect(isGuidField('PaymentApproved@1', 'Amount')).to.equal(false)
  })
})
