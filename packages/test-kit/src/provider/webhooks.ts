import { createHmac } from 'node:crypto'
import type { Ledger, PendingWebhook } from './ledger.ts'

/** Returns the headers of a webhook, by Standard Webhooks 1.0.0. @param secret the secret in Base64, with the prefix `whsec_` */
export function signed(secret: string, id: string, at: Date, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

interface Receiver {
  url: string
  secret: string
}

const checkMs = 50
const firstPauseMs = 250
const longestPauseMs = 5_000
const timeoutMs = 5_000

/** Sends the webhooks of a ledger until their receiver accepts them. Returns a function that stops, and one that tries now. */
export function startWebhooks(ledger: Ledger, { url, secret }: Receiver, now = () => new Date()) {
  const tries = new Map<string, { count: number; at: number }>()
  const sending = new Map<string, Promise<boolean>>()

  async function post({ id, type, paymentId }: PendingWebhook): Promise<boolean> {
    const { orderId = '', amount = 0 } = ledger.payments.get(paymentId) ?? {}
    const body = JSON.stringify({ type, timestamp: now().toISOString(), data: { paymentId, orderId, amount } })
    const headers = { 'content-type': 'application/json', ...signed(secret, id, now(), body) }
    try {
      const { ok } = await fetch(url, {
        ...{ method: 'POST', headers, body, redirect: 'manual' },
        signal: AbortSignal.timeout(timeoutMs),
      })
      if (ok) ledger.add({ at: now().getTime(), accepted: id })
      return ok
    } catch {
      return false
    }
  }

  /** Sends a webhook once. Returns true if it was accepted. */
  function send(webhook: PendingWebhook): Promise<boolean> {
    const known = sending.get(webhook.id)
    if (known) return known
    const work = post(webhook).finally(() => sending.delete(webhook.id))
    sending.set(webhook.id, work)
    return work
  }

  function check(): void {
    for (const webhook of ledger.webhooks.values()) {
      const { count, at } = tries.get(webhook.id) ?? { count: 0, at: webhook.at }
      if (sending.has(webhook.id) || now().getTime() < at) continue
      const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** count)
      tries.set(webhook.id, { count: count + 1, at: now().getTime() + pause })
      void send(webhook)
    }
  }

  const timer = setInterval(check, checkMs)
  return {
    send,
    async stop(): Promise<void> {
      clearInterval(timer)
      await Promise.allSettled(sending.values())
    },
  }
}
