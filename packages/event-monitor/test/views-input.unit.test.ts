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

  it('lists the filters for an unknown one, and does not repeat its name, because it may contain personal data', () => {
    for (const view of ['valid=1', 'AdaLovelace', 'Ada Lovelace, GB-123456789']) {
      const [error, ...others] = errorsOf(view) as { pointer: string; detail: string }[]
      expect([error?.pointer, others]).to.deep.equal(['view/0', []])
      expect(error?.detail).to.contain('validity')
      expect(JSON.stringify(error)).not.to.contain(view)
    }
  })

  it('reads a filter of one GUID, with which a page receives counts alone', () => {
    const guid = '00000000-0000-0000-0000-000000000000'
    expect(viewsInput.read({ query: { view: `guid=${guid}` } } as never)).to.deep.equal([{ guid }])
  })
})
