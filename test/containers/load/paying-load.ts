import { orderUrl } from '@orderflow/chaos/clients/api'
import { openBook } from '@orderflow/chaos/ledger/book'
import { startHttpLoad } from '@orderflow/chaos/load/http-load'
import { createTally } from '@orderflow/chaos/load/tally'
import { eventually } from '@orderflow/stack/base'
import type { RunningContainers } from '../running-containers.ts'
import { expectPaidOnce } from './expect-paid-once.ts'

const patienceMs = 250
const giveUpAfterMs = 120_000

export interface PayingLoad {
  accepts: (more: number) => Promise<void>
  isRefused: () => Promise<void>
  endsPaidOnce: () => Promise<Paid>
}

export interface Paid {
  orders: number
  /** The number of requests that were repeated because they were rejected or got no answer. */
  retried: number
}

export function startPayingLoad(stack: RunningContainers, perSecond: number): PayingLoad {
  const book = openBook({})
  const tally = createTally()
  const load = `load ${crypto.randomUUID()}`
  let overAt = Number.POSITIVE_INFINITY
  const isOver = () => Date.now() > overAt
  const plan = (index: number) => ({ name: `${load} ${index}`, total: 42.5, cancelAfterMs: undefined })
  const options = { urls: [orderUrl(stack)], book, tally, keys: 'k', isOver, patienceMs }
  const clients = startHttpLoad(plan, perSecond, options)

  function count(): { accepted: number; retried: number } {
    const { 'order 201': created = 0, 'order 202': unsaved = 0, ...others } = tally.counts()
    return { accepted: created + unsaved, retried: Object.values(others).reduce((sum, times) => sum + times, 0) }
  }
  return {
    async accepts(more) {
      const { accepted } = count()
      await eventually(() => count().accepted >= accepted + more, `${more} more orders to be accepted`)
    },
    async isRefused() {
      const { retried } = count()
      await eventually(() => count().retried > retried, 'a request to be refused')
    },
    async endsPaidOnce() {
      overAt = Date.now() + giveUpAfterMs
      await clients.end()
      const orders = await expectPaidOnce(stack, book)
      const { accepted, retried } = count()
      if (accepted !== orders) throw new Error(`${accepted} answers for ${orders} orders`)
      return { orders, retried }
    },
  }
}
