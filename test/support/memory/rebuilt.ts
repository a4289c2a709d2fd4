import { randomUUID } from 'node:crypto'
import { type FullEvent, orderEvents, paymentEvents, tenantOf } from '@orderflow/envelope-schema'
import { createDocuments, type Documents, type DocumentsOf, type Reactions } from '@orderflow/service-kit'
import { rebuildStore, type Sidecar } from '@orderflow/service-kit/operations'
import { FakeLog } from '@orderflow/service-kit/testing'
import fc from 'fast-check'

const orderIds = Array.from({ length: 5 }, (_, index) => `0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6${index}`)

/** The earlier content of a document. `other code` made it from the same log, and `half` from its first half. */
const anyEarlier = fc.oneof(
  fc.constantFrom('absent', 'other code', 'half', 'same'),
  fc.record({
    value: fc.oneof(
      fc.constantFrom<unknown>(null, 0, '', [], { total: -1 }),
      fc.record({
        orders: fc.array(fc.string()),
        total: fc.integer(),
        listed: fc.constantFrom('0:0:0', '15:7:9', 'x'),
      }),
    ),
  }),
)

/** Generates events about a few orders, the earlier content of their documents, and the writes after which the rebuild is killed. */
export const anyRebuild = fc.record({
  events: fc.array(
    fc.record({
      order: fc.nat(4),
      name: fc.constantFrom('OrderCreated', 'PaymentApproved'),
      total: fc.integer({ min: 1, max: 9 }),
    }),
    {
      minLength: 1,
      maxLength: 30,
    },
  ),
  earlier: fc.array(anyEarlier, { minLength: 5, maxLength: 5 }),
  killedAfter: fc.array(fc.nat(3), { maxLength: 2 }),
})

type AnyRebuild = typeof anyRebuild extends fc.Arbitrary<infer T> ? T : never

interface Totals {
  /** The ids of the events in their sequence. */
  events: string[]
  total: number
  listed?: string
}

const keyOf = (orderId: string) => `totals/${orderId}`

/** Returns reactions whose result depends on the sequence of events. Orders with a payment are in the list. */
function reactionsOn(documentsOf: DocumentsOf, factor: number): Reactions<boolean> {
  function add(event: FullEvent<'OrderCreated' | 'PaymentApproved'>): Promise<boolean> {
    const { OrderId } = event.Payload
    const key = keyOf(OrderId)
    return documentsOf(tenantOf(event).id).change({
      key,
      bytes: 1_000,
      decide(view) {
        const { events = [], total = 0, listed } = Object(view.get<Totals>(key)) as Partial<Totals>
        if (events.includes(event.Id)) return false
        const slot = listed ?? (event.Name === 'PaymentApproved' ? view.list(OrderId) : undefined)
        const amount = event.Name === 'PaymentApproved' ? event.Payload.Amount : event.Payload.Total
        view.write({ events: [...events, event.Id], total: 2 * total + factor * amount, ...(slot && { listed: slot }) })
        return true
      },
    })
  }
  return { [orderEvents]: { OrderCreated: add }, [paymentEvents]: { PaymentApproved: add } }
}

function logOf(events: AnyRebuild['events'], tenant: string): FakeLog {
  const log = new FakeLog()
  for (const topic of [orderEvents, paymentEvents]) log.append({ topic: `${topic}.dead` })
  for (const [index, { order, name, total }] of events.entries()) {
    const OrderId = orderIds[order]
    const payload =
      name === 'OrderCreated'
        ? { OrderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: total }
        : { OrderId, PaymentId: randomUUID(), Amount: total, Policy: 'p', Source: 'OrderCreated' }
    const id = `9a1e6f0a-6f0f-5a51-8f5b-${String(index).padStart(12, '0')}`
    const envelope = {
      ...{ Id: id, CorrelationId: id, TraceId: id, AppId: id, AppName: 'older-application', Version: 1, Name: name },
      ...{ CreationDate: '2026-11-21T10:00:00Z', TenantID: tenant, Payload: payload },
    }
    const topic = name === 'OrderCreated' ? orderEvents : paymentEvents
    log.append({ topic, key: OrderId, value: JSON.stringify(envelope), partition: order % 3 })
  }
  return log
}

async function rebuild(documentsOf: DocumentsOf, log: FakeLog, factor = 1): Promise<void> {
  await rebuildStore({
    ...{
      app: 'a-service',
      trust: { requireGenuine() {} },
      refusals: new Set<string>(),
      log,
      documentsOf,
      isShared: false,
    },
    rebuildOn: (documents) => reactionsOn(documents, factor),
    onProgress() {},
    onWait() {},
    onStored() {},
    untilPublished: async () => {},
  })
}

async function contentOf(documents: Documents): Promise<{ documents: unknown[]; list: string[] }> {
  const load = async (ids: string[], read: Documents['read']) => {
    const found = await read(ids.map(keyOf))
    return ids.map((id) => ({ item: id, listed: (found.get(keyOf(id))?.value as Totals | undefined)?.listed }))
  }
  const { items } = await documents.page({ cursor: undefined, limit: 100 }, load)
  const stored = await documents.read(orderIds.map(keyOf))
  const plain = orderIds.map((id) => {
    const { listed, ...others } = Object(stored.get(keyOf(id))?.value) as Partial<Totals>
    return { ...others, isListed: listed !== undefined }
  })
  return { documents: plain, list: items.toSorted() }
}

/** Fails as if the process were killed. */
class Killed extends Error {}

/** Returns the contents of two stores after a rebuild: one with earlier content, and an empty one. */
export async function rebuiltTwice(sidecar: Sidecar, { events, earlier, killedAfter }: AnyRebuild) {
  const documentsOf = createDocuments(sidecar, () => new Date())
  const [tenant, emptyTenant] = [randomUUID(), randomUUID()]
  const documents = documentsOf(tenant)
  const log = logOf(events, tenant)
  for (const [order, content] of earlier.entries()) {
    const key = keyOf(orderIds[order] as string)
    const own = events.filter((event) => event.order === order)
    if (own.length === 0) continue
    if (typeof content === 'object')
      await documents.change({ key, bytes: 1_000, decide: (view) => view.write(content.value) })
    else if (content !== 'absent') {
      const some = content === 'half' ? own.slice(0, own.length / 2) : own
      await rebuild(documentsOf, logOf(some, tenant), content === 'other code' ? 3 : 1)
    }
  }
  for (const writes of killedAfter) {
    let left = writes
    const killed: DocumentsOf = (one) => ({
      ...documentsOf(one),
      change(work) {
        if (left-- === 0) throw new Killed()
        return documentsOf(one).change(work)
      },
    })
    await rebuild(killed, log).catch((error: Error) => {
      if (!(error.cause instanceof Killed)) throw error
    })
  }
  await rebuild(documentsOf, log)
  await rebuild(documentsOf, logOf(events, emptyTenant))
  return { rebuilt: await contentOf(documents), wanted: await contentOf(documentsOf(emptyTenant)) }
}
