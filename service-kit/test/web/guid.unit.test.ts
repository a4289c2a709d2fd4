import { fieldValidator } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { guid } from '../../src/web/requests/guid.ts'

describe('a GUID of a path, a query or a setting', () => {
  const problems = fieldValidator({ id: ['OrderCreated@1', 'OrderId'] })
  const id = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'
  for (const [what, value, isOne] of [
    ['in lower case', id, true],
    ['in upper case', id.toUpperCase(), true],
    ['of zeros', id.replace(/[^-]/g, '0'), true],
    ['in brackets', `{${id}}`, false],
    ['as a urn', `urn:uuid:${id}`, false],
    ['without hyphens', id.replaceAll('-', ''), false],
    ['with a line break after it', `${id}\n`, false],
    ['with another letter', id.replace('7', 'g'), false],
  ] as const) {
    it(`is ${isOne ? 'one' : 'none'} ${what}, as the contract has it`, () => {
      expect([guid.test(value), problems({ id: value }).length === 0]).to.deep.equal([isOne, isOne])
    })
  }
})
