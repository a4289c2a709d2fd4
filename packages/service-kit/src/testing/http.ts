import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export async function withServer<T>(app: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const { url, stop } = await startServer(app)
  return await use(url).finally(stop)
}

/** Starts a server on a free port. */
export async function startServer(app: RequestListener): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface Answer<T> {
  status: number
  headers: Headers
  body: T
}

export async function send<T>(url: string, init: RequestInit = {}): Promise<Answer<T>> {
  const response = await fetch(url, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : undefined) as T }
}

export function post<T>(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
  const json = { 'content-type': 'application/json', ...headers }
  return send(url, { method: 'POST', headers: json, body: JSON.stringify(body) })
}
