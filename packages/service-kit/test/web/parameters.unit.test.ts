import { expect } from 'chai'
import type { Request } from 'express'
import { pathId, queryId } from '../../src/web/input.ts'

const guid = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'

describe('pathId and queryId', () => {
  const read = (id: string) => [
    pathId('id').read({ params: { id } } as unknown as Request),
    queryId('id').read({ query: { id } } as unknown as Request),
  ]

  it('accepts a GUID in every usual spelling, in the path and in the query', () => {
    for (const text of [guid.toUpperCase(), guid.replaceAll('-', ''), `{${guid}}`, `urn:uuid:${guid}`])
      expect(read(text), text).to.deep.equal([guid, guid])
  })

  it('refuses a value that is not a GUID, in the path and in the query', () => {
    expect(() => read('42')).to.throw('id: is not a GUID')
  })
})
