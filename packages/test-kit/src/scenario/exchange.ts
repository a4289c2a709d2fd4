import { createServer, type RequestListener, request } from 'node:http'
import type { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'

export interface Exchange {
  method: string
  path: string
  headers: Record<string, string>
  /** Sent as JSON. */
  body?: object | undefined
}

export interface Answer {
  status: number
  /** The parsed JSON; undefined for an empty body. */
  body: unknown
}

/** Sends a request to a listener over a connection in memory, which takes a tenth of the time of a connection on loopback. */
export async function exchange(listener: RequestListener, { method, path, headers, body }: Exchange): Promise<Answer> {
  const [client, server] = duplexPair()
  createServer(listener).emit('connection', server)
  try {
    const json = body && { 'content-type': 'application/json' }
    const sent = request({
      ...{ method, path, host: 'localhost', headers: { ...json, ...headers } },
      createConnection: () => client as Socket,
    })
    sent.end(body && JSON.stringify(body))
    return await new Promise((resolve, reject) => {
      sent.once('error', reject)
      sent.once('response', (response) => {
        const answer = (content: string) => ({
          status: response.statusCode ?? 0,
          body: content ? JSON.parse(content) : undefined,
        })
        text(response).then(answer).then(resolve, reject)
      })
    })
  } finally {
    client.destroy()
  }
}
