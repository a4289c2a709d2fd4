import { FakeSidecar } from '@orderflow/service-kit/testing'
import fc from 'fast-check'
import { anyBacklog, handleBacklog, requireSequence } from './support/sequence.ts'

describe('records of one key', () => {
  for (const store of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
    it(`take effect in their sequence on ${store}, although handlers wait and fail, and deliveries are repeated`, async () => {
      await fc.assert(
        fc.asyncProperty(anyBacklog, async (backlog) => {
          requireSequence(backlog, await handleBacklog(new FakeSidecar(store), backlog))
        }),
        { numRuns: 150 },
      )
    })
  }
})
