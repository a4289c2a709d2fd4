import type { HttpProblem } from '@orderflow/service-kit'
import { expect } from 'chai'
import { viewsInput } from '../src/routes/views-input.ts'

describe('the filters of a stream', () => {
  function errorsOf(view: string): unknown {
    try {
      return viewsInput.read({ query: { view } } as never)
    } catch (error) {
      return (error as HttpProblem).options.errors
    }
  }

  it('names an unknown filter, but hides an unusual name, because it may contain personal data', () => {
    expect(errorsOf('valid=1')).to.deep.equal([{ pointer: 'view/0/valid', detail: 'is not a filter' }])
    expect(errorsOf('Ada Lovelace, GB-123456789')).to.deep.equal([{ pointer: 'view/0/***', detail: 'is not a filter' }])
  })
})
