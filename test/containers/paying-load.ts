import { orderUrl } from '@orderflow/chaos/clients/api'
import { openBook } from '@orderflow/chaos/ledger/book'
import { startHttpLoad } from '@orderflow/chaos/load/http-load'
import { createTally } from '@orderflow/chaos/load/tally'
import type { Addresses } from '@orderflow/stack'
import { expectPaidOnce } from './expect-paid-once.ts'

const patienceMs = 250
/** Enough to be hit by anything that happens meanwhile, and not more than a slow database can list afterwards. */
const maxOrders = 50
const giveUpAfterMs = 120_000

/** What a load came to once it had ended. */
export interface Paid {
  orders: number
  /** Requests that were refused or not answered, and sent again. */
  retried: number
}

/** Orders coming in at a steady pace until `endsPaidOnce`, which expects each of them to be paid once. */
export function startPayingLoad(stack: Addresses, perSecond: number): { endsPaidOnce: () => Promise<Paid> } {
  const book = openBook({})
  const tally = createTally()
  const load = `load ${crypto.randomUUID()}`
  let overAt = Number.POSITIVE_INFINITY
  const isOver = () => Date.now() > overAt
  const plan = (index: number) => ({ name: `${load} ${index}`, total: 42.5, cancelAfterMs: undefined })
  const options = { urls: [orderUrl(stack)], book, tally, keys: 'k', isOver, patienceMs, maxOrders }
  const clients = startHttpLoad(plan, perSecond, options)
  return {
    async endsPaidOnce() {
      overAt = Date.now() + giveUpAfterMs
      await clients.end()
      const orders = await expectPaidOnce(stack, book)
      const { 'order 201': created = 0, 'order 202': accepted = 0, ...others } = tally.counts()
      if (created + accepted !== orders) throw new Error(`${created} + ${accepted} answers for ${orders} orders`)
      return { orders, retried: Object.values(others).reduce((sum, count) => sum + count, 0) }
    },
  }
}
