import type { Order } from '@orderflow/order-service/order'
import { entryOf } from '@orderflow/stack'
import { poll } from '@orderflow/stack/base'
import { send } from '../clients/api.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Book } from '../ledger/book.ts'
import { createHttpClient } from '../load/http-client.ts'
import type { PlannedOutsideOrder } from '../load/orders.ts'
import { createTally } from '../load/tally.ts'
import type { KnownOrder } from '../outside/poison.ts'
import { createOutsideProducer } from '../outside/producer.ts'
import { recordsOf } from '../outside/records.ts'

/** Milliseconds until a later order was accepted and paid, or undefined after two minutes. */
export interface Recovery {
  accepted: number | undefined
  paid: number | undefined
  /** An order of an outside publisher. */
  outsidePaid: number | undefined
}

const withinMs = 120_000
const pollMs = 25

/** Creates a probe that measures with its own orders how soon events flow again. */
export function createProbe(cluster: Cluster, book: Book, keys: string) {
  const urls = entryOf(cluster.urls, 'order-service')
  const paid: KnownOrder[] = []
  let count = 0

  async function becomesPaid(order: KnownOrder, deadline: number): Promise<boolean> {
    let asked = 0
    const isPaid = async () => {
      const url = urls[asked++ % urls.length]
      const signal = AbortSignal.timeout(2_000)
      const answer = await send<Order>(`${url}/v1/orders/${order.id}`, { signal }).catch(() => undefined)
      return answer?.body?.status === 'Paid'
    }
    if (!(await poll(isPaid, { timeoutMs: deadline - performance.now(), everyMs: pollMs }))) return false
    paid.push(order)
    return true
  }

  async function placed(since: number, deadline: number): Promise<Pick<Recovery, 'accepted' | 'paid'>> {
    const order = { name: `probe ${count}`, total: 10, cancelAfterMs: undefined }
    const isOver = () => performance.now() > deadline
    const options = { urls, book, tally: createTally(), keys, isOver, patienceMs: 50 }
    const accepted = await createHttpClient(options).place(order)
    if (!accepted) return { accepted: undefined, paid: undefined }
    const acceptedAt = performance.now() - since
    const isPaid = await becomesPaid({ ...order, id: accepted.id }, deadline)
    return { accepted: acceptedAt, paid: isPaid ? performance.now() - since : undefined }
  }

  async function published(since: number, deadline: number): Promise<number | undefined> {
    const common = { key: 'order', again: [], cancelAfterMs: undefined, cancelFirst: false, form: 'full' } as const
    const order: PlannedOutsideOrder = {
      ...common,
      id: crypto.randomUUID(),
      name: `outside probe ${count}`,
      total: 10,
      again: [],
    }
    const producer = createOutsideProducer(cluster.kafka, () => performance.now() > deadline)
    for (const { record, attempted, accepted } of recordsOf(order, book)) {
      attempted()
      if (await producer.send([record])) accepted()
    }
    await producer.close()
    return (await becomesPaid(order, deadline)) ? performance.now() - since : undefined
  }

  return {
    paid: paid as readonly KnownOrder[],
    /** @param since a time of `performance.now()` */
    async measure(since: number): Promise<Recovery> {
      count += 1
      const deadline = since + withinMs
      const [http, outsidePaid] = await Promise.all([placed(since, deadline), published(since, deadline)])
      return { ...http, outsidePaid }
    },
  }
}
