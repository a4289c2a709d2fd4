import { setTimeout as delay } from 'node:timers/promises'

export interface Answer<T = Record<string, unknown>> {
  status: number
  body: T
}

const timeoutMs = 10_000

/** Sends a request. Rejects when nothing answers. */
export async function send<T>(url: string, request: RequestInit = {}): Promise<Answer<T>> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) })
  const text = await response.text()
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T }
}

/** Posts JSON; a text is sent as it is. */
export function post<T>(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
  return send<T>(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Waits until `look` returns something. A look that throws counts as one that returns nothing. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>, withinMs = 30_000): Promise<T> {
  const end = Date.now() + withinMs
  let last: unknown
  while (Date.now() < end) {
    try {
      const found = await look()
      if (found !== undefined) return found
    } catch (error) {
      last = error
    }
    await delay(100)
  }
  throw new Error(`waited ${withinMs / 1_000} s for ${what}${last ? `; last error: ${(last as Error).message}` : ''}`)
}
