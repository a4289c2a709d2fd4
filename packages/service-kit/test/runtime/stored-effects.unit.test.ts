import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { createEffects } from '../../src/runtime/dry-run/stored-effects.ts'
import { createDocuments } from '../../src/state/documents.ts'
import { handled, within } from '../../src/telemetry/context.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

const value = Buffer.from(
  JSON.stringify({
    ...{ AppId: randomUUID(), AppName: 'older-application', Version: 1, Name: 'OrderCreated' },
    ...{ CreationDate: '2026-11-21T10:00:00Z' },
    Payload: { OrderId: randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 },
  }),
)

describe('the effects of an event on a store', () => {
  // A call that waits for the comparison of a store starts the comparison, in its own context.
  it('depend on the time of arrival of this event, although another event is handled meanwhile', async () => {
    const seen: unknown[] = []
    const effectsOf = createEffects({
      rebuildOn: () => ({
        orderevents: {
          async OrderCreated() {
            seen.push(handled()?.arrivedAt, handled()?.run)
            return false
          },
        },
      }),
      documents: createDocuments(new FakeSidecar(), () => new Date(0)),
      trust: { requireGenuine() {} },
    })
    const record = { value, signature: undefined, appendedAt: 5 }
    const other = { document: undefined, arrivedAt: 1, run: { isBroken: false } }
    await within(other, () => effectsOf('orderevents', record, { value, key: undefined }))
    expect(seen).to.deep.equal([5, undefined])
  })
})
