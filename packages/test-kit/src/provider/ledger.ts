import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/** A payment as the provider knows it. The numbers count effects, and never requests. */
export interface LedgerEntry {
  orderId: string
  amount: number
  /** The time of the last reservation, in milliseconds since 1970; undefined without one. */
  authorisedAt?: number
  authorised: number
  declined: number
  captured: number
  cancelled: number
  refunded: number
  captureFailed: number
}

export type Effect = 'authorised' | 'captured' | 'cancelled' | 'refunded' | 'declined' | 'capture_failed'

export interface Answer {
  status: number
  body: object
}

/** The stored answer of an Idempotency-Key. */
export interface StoredAnswer extends Answer {
  /** The digest of the request. */
  request: string
}

/** A webhook that the receiver has not accepted yet. */
export interface PendingWebhook {
  id: string
  type: string
  paymentId: string
  /** The earliest time of the next attempt, in milliseconds since 1970. */
  at: number
}

/** A line of the journal. Its parts become durable together. */
export interface Entry {
  at: number
  paymentId?: string
  orderId?: string
  amount?: number
  effect?: Effect
  key?: string
  answer?: StoredAnswer
  /** The true result for the key, which the answer may hide. */
  result?: Answer
  /** A key whose answer the provider forgets. A lookup still finds the result. */
  forgotten?: string
  webhooks?: PendingWebhook[]
  /** The id of a webhook that its receiver has accepted. */
  accepted?: string
}

const countOf = {
  authorised: 'authorised',
  captured: 'captured',
  cancelled: 'cancelled',
  refunded: 'refunded',
  declined: 'declined',
  capture_failed: 'captureFailed',
} as const

/**
 * Opens the ledger of a simulated provider. Each entry is on the disk before its answer. So a provider that was killed knows what it did.
 * @param file the journal; without one, the ledger ends with its process
 */
export function openLedger(file: string | undefined) {
  const payments = new Map<string, LedgerEntry>()
  const answers = new Map<string, StoredAnswer>()
  const results = new Map<string, Answer>()
  const webhooks = new Map<string, PendingWebhook>()
  // A killed process may leave half a line, which was never answered.
  const lines = file && existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  for (const line of lines) apply(JSON.parse(line) as Entry)
  if (file && lines.length === 0) appendFileSync(file, '')
  const descriptor = file === undefined ? undefined : openSync(file, 'a')

  function apply({ at, paymentId, orderId = '', amount = 0, effect, ...entry }: Entry): void {
    if (paymentId !== undefined && effect) {
      const none = { authorised: 0, declined: 0, captured: 0, cancelled: 0, refunded: 0, captureFailed: 0 }
      const payment: LedgerEntry = payments.get(paymentId) ?? { orderId, amount, ...none }
      payments.set(paymentId, payment)
      payment[countOf[effect]] += 1
      if (effect === 'authorised') payment.authorisedAt = at
    }
    if (entry.key !== undefined && entry.answer) answers.set(entry.key, entry.answer)
    if (entry.key !== undefined && entry.result) results.set(entry.key, entry.result)
    if (entry.forgotten !== undefined) answers.delete(entry.forgotten)
    for (const webhook of entry.webhooks ?? []) webhooks.set(webhook.id, webhook)
    if (entry.accepted !== undefined) webhooks.delete(entry.accepted)
  }

  return {
    payments: payments as ReadonlyMap<string, Readonly<LedgerEntry>>,
    answers: answers as ReadonlyMap<string, StoredAnswer>,
    results: results as ReadonlyMap<string, Answer>,
    webhooks: webhooks as ReadonlyMap<string, PendingWebhook>,
    add(entry: Entry): void {
      if (descriptor !== undefined) {
        writeSync(descriptor, `${JSON.stringify(entry)}\n`)
        fsyncSync(descriptor)
      }
      apply(entry)
    },
    close(): void {
      if (descriptor !== undefined) closeSync(descriptor)
    },
  }
}

export type Ledger = ReturnType<typeof openLedger>
