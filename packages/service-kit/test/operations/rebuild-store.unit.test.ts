import { randomUUID } from 'node:crypto'
import type { FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { rebuildStore } from '../../src/operations/rebuild-store.ts'
import { OperationError } from '../../src/operations/terminal.ts'
import { createDocuments, type DocumentsOf } from '../../src/state/documents.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

type Created = FullEvent<'OrderCreated'>

const orderId = randomUUID()

/** Returns handlers that keep the smaller text, as a service does whose documents depend on no sequence. */
function handlersOn(documentsOf: DocumentsOf, note: string) {
  return {
    orderevents: {
      OrderCreated: ({ Id, Payload }: Created) =>
        documentsOf('').change({
          key: Payload.OrderId,
          bytes: 100,
          decide(view) {
            const known = view.get<object>(Payload.OrderId)
            const item = { id: Id, note }
            if (known && JSON.stringify(known) <= JSON.stringify(item)) return false
            view.write(item)
            return true
          },
        }),
    },
  }
}

describe('rebuildStore', () => {
  let log: FakeLog
  let sidecar: FakeSidecar
  let documentsOf: DocumentsOf
  let waits: number
  let untilPublished: () => Promise<void>
  beforeEach(() => {
    log = new FakeLog()
    sidecar = new FakeSidecar()
    documentsOf = createDocuments(sidecar, () => new Date(), true)
    waits = 0
    untilPublished = async () => {}
    append()
  })

  function append(id = randomUUID()): string {
    const payload = { OrderId: orderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 }
    const ids = { Id: id, CorrelationId: id, TraceId: id, AppId: id }
    const rest = { AppName: 'a', Version: 1, Name: 'OrderCreated', CreationDate: '2026-11-21T10:00:00Z' }
    log.append({ topic: 'orderevents', value: JSON.stringify({ ...ids, ...rest, Payload: payload }) })
    return id
  }
  const put = (value: unknown) =>
    documentsOf('').change({ key: orderId, bytes: 100, decide: (view) => view.write(value) })
  const stored = () => sidecar.documents.get(orderId)?.value as { id: string; note: string } | undefined

  async function rebuild(note: string) {
    const counts = await rebuildStore({
      ...{ app: 'a-service', trust: { requireGenuine() {} }, refusals: new Set<string>(), log, documentsOf },
      rebuildOn: (documents) => handlersOn(documents, note),
      isShared: true,
      onProgress() {},
      onWait() {},
      onStored() {},
      async untilPublished() {
        waits += 1
        await untilPublished()
      },
    })
    return counts.get('orderevents')
  }

  for (const [before, after] of [
    ['a', 'z'],
    ['z', 'a'],
  ] as const) {
    it(`replaces the document ${before} of other code by ${after}, and counts its event as applied`, async () => {
      await rebuild(before)
      expect(await rebuild(after)).to.include({ read: 1, applied: 1, unchanged: 0 })
      expect(stored()?.note).to.equal(after)
      expect(await rebuild(after)).to.include({ read: 1, applied: 0, unchanged: 1 })
    })
  }

  it('writes nothing if the store has all documents', async () => {
    await rebuild('a')
    const { transact } = sidecar.calls
    await rebuild('a')
    expect([sidecar.calls.transact, waits]).to.deep.equal([transact, 0])
  })

  it('writes nothing if a document differs only in notes of the running service', async () => {
    await rebuild('a')
    const live = { ...stored(), visits: 2, requestHash: 'a hash', unannounced: [] }
    sidecar.set(orderId, live)
    const { transact } = sidecar.calls
    expect(await rebuild('a')).to.include({ read: 1, applied: 0, unchanged: 1 })
    expect(stored()).to.deep.equal(live)
    expect(sidecar.calls.transact).to.equal(transact)
  })

  it('keeps an event that the running service handles during the rebuild', async () => {
    await put({ note: 'of other code' })
    const newest = '00000000-0000-4000-8000-000000000000'
    untilPublished = async () => {
      if (waits > 1) return
      append(newest)
      await put({ id: newest, note: 'of the running service' })
    }
    expect(await rebuild('a')).to.include({ read: 2 })
    expect(stored()).to.deep.equal({ id: newest, note: 'a' })
    expect(waits).to.equal(2)
  })

  it('stops with an error if the running service changes a document again and again', async () => {
    await put({ note: 'of other code' })
    untilPublished = () => put({ note: `of the running service ${waits}` })
    const error = await rebuild('a').catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(OperationError).with.property('message').that.contains(orderId)
    expect(stored()?.note).to.match(/^of the running service/)
  })

  it('keeps documents that were made from no event of the log', async () => {
    sidecar.set('another', { note: 'kept' })
    await rebuild('a')
    expect(sidecar.documents.get('another')?.value).to.deep.equal({ note: 'kept' })
  })
})
