import { FakeSidecar } from '@orderflow/service-kit/testing'
import fc from 'fast-check'
import { anyBacklog, type Backlog, handleBacklog, requireSequence } from '../support/memory/sequence.ts'

/** The second delivery is repeated while its first record becomes a dead letter. */
const repeatedAfterDeadLetter: Backlog = {
  records: [
    { key: 'a', waits: [], attempts: ['outage', 'bug', 'bug'] },
    { key: 'a', waits: [], attempts: [] },
    { key: 'a', waits: [], attempts: [] },
  ],
  sizes: { delivery: 2, part: 2 },
  repeated: [false, true],
}

describe('records of one key', () => {
  for (const store of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
    it(`take effect in their sequence on ${store}, although handlers wait and fail, and deliveries are repeated`, async () => {
      await fc.assert(
        fc.asyncProperty(anyBacklog, async (backlog) => {
          requireSequence(backlog, await handleBacklog(new FakeSidecar(store), backlog))
        }),
        { numRuns: 150, examples: [[repeatedAfterDeadLetter]] },
      )
    })
  }
})
