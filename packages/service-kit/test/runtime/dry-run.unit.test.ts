import type { Envelope, FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { createDryRun, type DryRunRecord } from '../../src/runtime/dry-run/dry-run.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { createDocuments, type DocumentsOf } from '../../src/state/documents.ts'
import type { Publish } from '../../src/stream/publishing/publish.ts'
import { createMask } from '../../src/telemetry/mask.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { UntrustedError } from '../../src/trust/trust.ts'

const position = { topic: 'orderevents', partition: 0, offset: '7' }
const OrderId = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'
const created = (payload: object = { OrderId, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10 }) => ({
  AppId: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e003',
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-01-01T00:00:00Z',
  Payload: payload,
})
const record = (document: unknown): DryRunRecord => ({
  position,
  value: Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)).toString('base64'),
  arrivedAt: 0,
  isVouchedFor: false,
})

class TooOddError extends Error {
  readonly code = 'too-odd'
}

describe('a dry run', () => {
  let sidecar: FakeSidecar
  beforeEach(() => {
    sidecar = new FakeSidecar()
  })

  /** Returns reactions that store the event under its order's id, and publish another event. */
  function reactionsOn({ documents, publish }: { documents: DocumentsOf; publish: Publish }) {
    return {
      orderevents: {
        OrderCreated: async (event: FullEvent<'OrderCreated'>) => {
          const { OrderId: id, Total } = event.Payload
          if (Total === 13) throw new TooOddError('13 is too odd')
          const key = `thing/${id}`
          const isNew = await documents('').change({
            key,
            bytes: 100,
            decide(view) {
              if (view.get(key)) return false
              const { CustomerName: customerName } = event.Payload
              view.write({ id, total: Total, customerName, policy: 'amount-limit@1', Payload: event.Payload })
              return true
            },
          })
          const reaction = { ...event, Name: 'PaymentApproved', Version: 1 } as unknown as Envelope
          if (isNew) await publish('paymentevents', reaction)
          return isNew
        },
      },
    }
  }

  const dryRun = (document: unknown, refuse?: string) =>
    createDryRun({
      reactionsOn,
      documents: createDocuments(sidecar, () => new Date(0)),
      trust: {
        requireTrusted() {
          if (refuse) throw new UntrustedError(refuse)
        },
        vouch: () => undefined,
      },
      refusals: new Set(['too-odd']),
      mask: createMask(),
    })(record(document))

  it('reports the writes and events that a record would cause, but performs none, and hides personal data', async () => {
    const tried = await dryRun(created())
    expect(tried).to.deep.include({
      result: 'changes',
      publishes: [{ topic: 'paymentevents', type: 'PaymentApproved@1' }],
    })
    const [change] = tried.result === 'changes' ? tried.changes : []
    expect(change).to.deep.include({ key: `thing/${OrderId}`, before: null })
    expect(change?.after).to.deep.include({ id: OrderId, total: 10, customerName: '***', policy: 'amount-limit@1' })
    expect(JSON.stringify(tried)).not.to.match(/Grace|US-1/)
    expect([sidecar.documents.size, sidecar.published.length, sidecar.calls.transact]).to.deep.equal([0, 0, 0])
  })

  it('reports that a known event has no effect', async () => {
    sidecar.documents.set(`thing/${OrderId}`, { value: { id: OrderId }, etag: '1' })
    const conflicts: string[] = []
    expect(await dryRun(created())).to.deep.equal({ result: 'no-effect', why: 'duplicate', publishes: [], conflicts })
  })

  it('reports that an unhandled event has no effect', async () => {
    const tried = await dryRun({ ...created({}), Name: 'StockCounted' })
    expect(tried).to.deep.equal({ result: 'no-effect', why: 'not-handled', publishes: [], conflicts: [] })
  })

  it('reports a dead letter with its reason and all problems', async () => {
    const invalid = await dryRun(created({ OrderId }))
    expect(invalid).to.include({ result: 'dead-letter', reason: 'invalid-payload' })
    expect(invalid.result === 'dead-letter' && invalid.faults.map(({ pointer }) => pointer)).to.deep.equal([
      '/Payload/CustomerName',
      '/Payload/CustomerTaxId',
      '/Payload/Total',
    ])
    expect(await dryRun('{')).to.include({ result: 'dead-letter', reason: 'not-json' })
    const inexact = JSON.stringify(created()).replace('"Total":10', '"Total":999999999999.999999')
    expect(await dryRun(inexact)).to.include({ result: 'dead-letter', reason: 'invalid-payload' })
    const odd = created({ OrderId, CustomerName: 'n', CustomerTaxId: 't', Total: 13 })
    expect(await dryRun(odd)).to.include({ result: 'dead-letter', reason: 'too-odd', detail: '13 is too odd' })
    expect(await dryRun(created(), 'it is not listed')).to.include({ result: 'dead-letter', reason: 'untrusted' })
  })

  it('reports a failure while the store is unavailable', async () => {
    const away = new SidecarError('read state', 'gone')
    for (const calls of ['read', 'readOne'] as const) sidecar.failures[calls].push(away)
    expect((await dryRun(created())).result).to.equal('unknown')
  })

  describe('conflicts of an edited event', () => {
    const total = (Total: number) => created({ OrderId, CustomerName: 'n', CustomerTaxId: 't', Total })
    const base64 = (document: unknown) => Buffer.from(JSON.stringify(document)).toString('base64')
    type Handler = (event: FullEvent<'OrderCreated'>, documents: DocumentsOf) => Promise<boolean>

    /** Stores one field of an order's first event, and ignores later events. */
    const keepsFirst: Handler = async ({ TenantID = '', Payload }, documents) =>
      await documents(TenantID).change({
        key: `thing/${Payload.OrderId}`,
        bytes: 100,
        decide(view) {
          if (view.get(`thing/${Payload.OrderId}`)) return false
          view.write({ total: Payload.Total })
          return true
        },
      })
    /** Stores the newest total with the first name. */
    const mixes: Handler = async ({ Payload: { OrderId: id, Total, CustomerName } }, documents) =>
      await documents('').change({
        key: `thing/${id}`,
        bytes: 100,
        decide(view) {
          const stored = view.get<{ total: number; name: string }>(`thing/${id}`)
          if (stored?.total === Total) return false
          view.write({ total: Total, name: stored?.name ?? CustomerName })
          return true
        },
      })
    const refuses: Handler = async (event, documents) => {
      await keepsFirst(event, documents)
      const stored = (await documents('').read([`thing/${OrderId}`])).get(`thing/${OrderId}`)?.value
      if ((stored as { total: number }).total !== event.Payload.Total) throw new TooOddError('another total')
      return true
    }

    async function tryEdit(handler: Handler, edited: unknown, kept: unknown = total(10)) {
      const documents = createDocuments(sidecar, () => new Date(0))
      const reactionsOn = (on: { documents: DocumentsOf }) => ({
        orderevents: { OrderCreated: (event: FullEvent<'OrderCreated'>) => handler(event, on.documents) },
      })
      const trust = { requireTrusted() {}, vouch: () => undefined }
      const options = { reactionsOn, documents, trust, refusals: new Set(['too-odd']), mask: createMask() }
      return await createDryRun(options)({ ...record(edited), kept: { value: base64(kept) } })
    }
    const stored = () => sidecar.documents.set(`thing/${OrderId}`, { value: { total: 10, name: 'n' }, etag: '1' })

    it('names the fields of which the service keeps another value, if the edit has no effect', async () => {
      const ignored = { result: 'no-effect', why: 'duplicate', publishes: [], conflicts: ['/Payload/Total'] }
      expect(await tryEdit(keepsFirst, total(11))).to.deep.equal(ignored)
      stored()
      expect(await tryEdit(keepsFirst, total(11))).to.deep.equal(ignored)
    })

    it('names them if the edit would change a part of the document', async () => {
      stored()
      const tried = await tryEdit(mixes, { ...total(11), Payload: { ...total(11).Payload, CustomerName: 'm' } })
      expect(tried).to.deep.include({ result: 'changes', conflicts: ['/Payload/CustomerName', '/Payload/Total'] })
      expect(tried.result === 'changes' && tried.changes.map(({ before }) => before)).to.deep.equal([
        { total: 10, name: 'n' },
      ])
    })

    it('names them if the service refuses the edit', async () => {
      stored()
      const refused = { result: 'dead-letter', reason: 'too-odd', conflicts: ['/Payload/Total'] }
      expect(await tryEdit(refuses, total(11))).to.deep.include(refused)
    })

    it('names another id, tenant or name, which the service handles apart from the first event', async () => {
      stored()
      const other = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e12'
      const moved = await tryEdit(keepsFirst, created({ ...total(10).Payload, OrderId: other }))
      expect(moved).to.deep.include({ result: 'changes', conflicts: ['/Payload/OrderId'] })
      expect(await tryEdit(keepsFirst, { ...total(10), TenantID: 'clinic' })).to.deep.include({
        result: 'changes',
        conflicts: ['/TenantID'],
      })
      const renamed = { ...total(10), Name: 'OrderCancelled', Payload: { OrderId } }
      expect(await tryEdit(keepsFirst, renamed)).to.deep.include({ why: 'not-handled', conflicts: ['/Name'] })
    })

    it('names only fields that the service reads, except the Id', async () => {
      stored()
      const Payload = { ...total(10).Payload, CustomerName: 'another' }
      const edited = { ...total(10), Id: '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e12', Payload }
      expect(await tryEdit(keepsFirst, edited)).to.deep.include({ result: 'no-effect', conflicts: [] })
    })

    it('ignores an original event that the service rejects or does not handle', async () => {
      const invalid = { ...total(10), Payload: { OrderId } }
      expect(await tryEdit(keepsFirst, total(11), invalid)).to.deep.include({ result: 'changes', conflicts: [] })
      const unhandled = { ...total(10), Name: 'StockCounted' }
      expect(await tryEdit(keepsFirst, total(11), unhandled)).to.deep.include({ result: 'changes', conflicts: [] })
    })
  })
})
