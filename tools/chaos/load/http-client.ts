import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, send } from '../clients/api.ts'
import type { Book } from '../ledger/book.ts'
import type { PlannedOrder } from './orders.ts'
import type { Tally } from './tally.ts'

export interface HttpClientOptions {
  urls: string[]
  book: Book
  tally: Tally
  keys: string
  /** Returns true when clients should give up. */
  isOver: () => boolean
  /** The approximate time from a refusal to the next request. */
  patienceMs: number
}

export interface Accepted {
  id: string
  /** False after a 202 response: the service may not have stored the order yet. */
  stored: boolean
}

interface Body {
  id?: string
  orderId?: string
}
type Reply = Answer<Body | undefined>

/** Longer than the 10 s for which order-service waits for its sidecar. */
const requestTimeoutMs = 12_000

const accepted = [200, 201, 202]

/**
 * Creates a client of order-service. After a 503 or no answer it repeats the request at the next replica. The ledger records other failures
 * as unexpected.
 */
export function createHttpClient({ urls, book, tally, keys, isOver, patienceMs }: HttpClientOptions) {
  /** Sends the request again until it is accepted or rejected, or the test is over. */
  async function insist(
    what: string,
    name: string,
    passing: number[],
    path: string,
    init: RequestInit,
  ): Promise<Reply | undefined> {
    const ids = new Set<string>()
    for (let attempt = Math.floor(Math.random() * urls.length); ; attempt += 1) {
      const url = `${urls[attempt % urls.length]}${path}`
      const signal = AbortSignal.timeout(requestTimeoutMs)
      const reply = await send<Body | undefined>(url, { method: 'POST', signal, ...init }).catch(() => undefined)
      tally.add(`${what} ${reply?.status ?? 'unanswered'}`)
      if (reply) {
        const { status, body } = reply
        if (accepted.includes(status)) return reply
        if (!passing.includes(status)) book.surprise(`${name}: ${what} answered ${status}`)
        if (status < 500 && !passing.includes(status)) return undefined
        if (body?.orderId) ids.add(body.orderId)
        if (ids.size > 1) book.surprise(`${name}: one key stands for ${[...ids].join(' and ')}`)
      }
      if (isOver()) {
        book.gaveUp(name)
        return undefined
      }
      await delay(patienceMs * (0.5 + Math.random()))
    }
  }

  return {
    /** Places the order. Returns undefined if it was never accepted. */
    async place({ name, total }: PlannedOrder): Promise<Accepted | undefined> {
      book.attempted({ name, source: 'http', total })
      const headers = { 'content-type': 'application/json', 'idempotency-key': `${keys}-${name.replaceAll(' ', '-')}` }
      const body = JSON.stringify({ customerName: name, customerTaxId: 'GB-123456789', total })
      const reply = await insist('order', name, [503], '/v1/orders', { headers, body })
      const id = reply?.body?.id
      if (!id) return undefined
      book.accepted(name, id)
      return { id, stored: reply.status === 201 }
    },

    async cancel(name: string, { id, stored }: Accepted): Promise<void> {
      book.cancelAttempted(name)
      const reply = await insist('cancel', name, stored ? [503] : [503, 404], `/v1/orders/${id}/cancel`, {})
      if (reply) book.cancelAccepted(name)
    },
  }
}
