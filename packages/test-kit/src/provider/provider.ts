import { hash, randomUUID, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, type Effect, type Ledger, openLedger, type PendingWebhook } from './ledger.ts'
import { noFaults, type Switches, switched } from './switches.ts'
import { startWebhooks } from './webhooks.ts'

export interface ProviderOptions {
  /** Default: any unused port. */
  port?: number
  /** The bearer token of requests. Without one, every request is accepted. */
  secret?: string
  /** The journal, from which a restarted provider continues. */
  file?: string
  /** The receiver of webhooks. */
  webhooks?: { url: string; secret: string } | undefined
  switches?: Partial<Switches>
  /** The seed of random choices. */
  seed?: number
  now?: () => Date
}

interface PaymentRequest {
  paymentId: string
  orderId: string
  amount: number
}

interface Result extends Answer {
  effect?: Effect
}

const operations = new Set(['authorise', 'capture', 'cancel', 'refund'])

const done = (effect: Effect): Result => ({ status: 200, body: { status: effect }, effect })
const refused = (code: string, detail: string, status = 422): Result => ({
  status,
  body: { type: `urn:provider:problem:${code}`, title: 'Refused', code, detail, status },
})

/**
 * Starts a simulated payment provider on loopback. Its ledger counts what it did, so a test can compare the ledger with its own records. It never does
 * something twice for one key that it remembers.
 */
export async function startProvider(options: ProviderOptions = {}) {
  const { port = 0, secret, file, now = () => new Date(), seed = 1 } = options
  const ledger = openLedger(file)
  const webhooks = options.webhooks && startWebhooks(ledger, options.webhooks, now)
  const running = new Set<string>()
  const chance = randomFrom(seed)
  let switches = switched(noFaults, options.switches ?? {})
  let requests = 0
  const isFaulty = (operation: string) => [operation, ''].includes(switches.faultyOperation)

  /** Decides what an operation does. */
  function resultOf(operation: string, { paymentId }: PaymentRequest): Result {
    const payment = ledger.payments.get(paymentId)
    const isLapsed =
      payment?.authorisedAt !== undefined && now().getTime() > payment.authorisedAt + switches.lapseAfterMs
    if (operation === 'cancel') {
      if (payment && payment.captured > 0) return refused('already-captured', 'the payment was captured before')
      return payment && payment.cancelled > 0 ? { status: 200, body: { status: 'cancelled' } } : done('cancelled')
    }
    if (payment && payment.cancelled > 0) return refused('cancelled', 'the payment was cancelled before')
    // Another key is another request, so a caller that changes its keys is charged or refunded twice.
    if (operation === 'authorise')
      return chance() < switches.declines
        ? { ...refused('declined', 'the card was declined'), effect: 'declined' }
        : done('authorised')
    if (payment?.authorisedAt === undefined) return refused('unknown-payment', 'the payment was not authorised')
    if (operation === 'refund')
      return payment.captured > 0 ? done('refunded') : refused('not-captured', 'the payment was not captured')
    if (payment.captured > 0) return { status: 200, body: { status: 'captured' } }
    return isLapsed ? refused('authorisation-lapsed', 'the authorisation has lapsed') : done('captured')
  }

  /** Returns the webhooks of an effect. */
  function webhooksOf(effect: Effect, paymentId: string, dueMs = switches.webhookDelayMs): PendingWebhook[] {
    if (!webhooks) return []
    const count = chance() < switches.doubleWebhooks ? 2 : 1
    const one = () => ({ id: `msg_${randomUUID()}`, type: `payment.${effect}`, paymentId, at: now().getTime() + dueMs })
    return Array.from({ length: count }, one)
  }

  async function answerTo(operation: string, key: string, body: string): Promise<Answer> {
    const request = hash('sha256', `${operation} ${body}`)
    const known = ledger.answers.get(key)
    if (known && known.request !== request) return refused('key-reused', 'the key was used for another request')
    if (known) return known
    if (running.has(key)) return refused('in-progress', 'the first request with this key is running', 409)
    running.add(key)
    try {
      await delay(switches.slowMs)
      const input = JSON.parse(body) as PaymentRequest
      const result = resultOf(operation, input)
      const answer =
        isFaulty(operation) && chance() < switches.errors ? refused('internal', 'the provider failed', 500) : result
      const { paymentId, orderId, amount } = input
      const at = now().getTime()
      const fails = result.effect === 'captured' && chance() < switches.failedCaptures
      const sent = [
        ...(result.effect ? webhooksOf(result.effect, paymentId) : []),
        ...(fails ? webhooksOf('capture_failed', paymentId, switches.captureFailsAfterMs) : []),
      ]
      ledger.add({
        ...{ at, paymentId, orderId, amount, key, webhooks: sent },
        ...(result.effect && { effect: result.effect }),
        answer: { request, status: answer.status, body: answer.body },
        result: { status: result.status, body: result.body },
      })
      if (fails) ledger.add({ at, paymentId, effect: 'capture_failed' })
      if (isFaulty(operation) && chance() < switches.forgottenKeys) ledger.add({ at, forgotten: key })
      if (webhooks && chance() < switches.earlyWebhooks) await Promise.all(sent.slice(0, 1).map(webhooks.send))
      return answer
    } finally {
      running.delete(key)
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const [, operation = '', key] = url.split('/').map(decodeURIComponent)
    const body = await text(request)
    const json = (status: number, content: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    if (operation === 'health') return json(200, { status: 'ready' })
    if (operation === 'ledger') return json(200, Object.fromEntries(ledger.payments))
    if (operation === 'switches') {
      if (method === 'PUT') switches = switched(switches, JSON.parse(body) as object)
      return json(200, switches)
    }
    if (secret && !isSame(headers.authorization ?? '', `Bearer ${secret}`))
      return json(401, { code: 'unauthenticated' })
    if (!operations.has(operation)) return json(404, { code: 'unknown-operation' })
    if (switches.isDown) return json(503, { code: 'down' })
    if (method === 'GET') {
      const known = ledger.results.get(key ?? '')
      return known ? json(known.status, known.body) : json(404, { code: 'absent' })
    }
    requests += 1
    const sent = headers['idempotency-key']
    if (typeof sent !== 'string') return json(400, { code: 'key-missing', detail: 'send an Idempotency-Key' })
    const answer = await answerTo(operation, sent, body)
    if (isFaulty(operation) && chance() < switches.lostAnswers) response.destroy()
    else json(answer.status, answer.body)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => {
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ code: 'bad-request', detail: error.message }))
    })
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ledger: ledger as Pick<Ledger, 'payments' | 'webhooks'>,
    get requests() {
      return requests
    },
    /** Changes switches. */
    set(changes: Partial<Switches>): void {
      switches = switched(switches, changes)
    },
    async stop(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await webhooks?.stop()
      ledger.close()
    },
  }
}

export type Provider = Awaited<ReturnType<typeof startProvider>>

function isSame(one: string, other: string): boolean {
  const [a, b] = [hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer')]
  return timingSafeEqual(a, b)
}

/** Returns a function that returns the same numbers from 0 to 1 for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
