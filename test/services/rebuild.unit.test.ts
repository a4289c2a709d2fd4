import { FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import { anyRebuild, rebuiltTwice } from '../support/memory/rebuilt.ts'

describe('a rebuild', () => {
  for (const store of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
    it(`makes the same documents and list on ${store} as on an empty store, whatever was there, although it was killed before`, async () => {
      await fc.assert(
        fc.asyncProperty(anyRebuild, async (one) => {
          const { rebuilt, wanted } = await rebuiltTwice(new FakeSidecar(store), one)
          expect(rebuilt).to.deep.equal(wanted)
        }),
        { numRuns: 50 },
      )
    })
  }
})
