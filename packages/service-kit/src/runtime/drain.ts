import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'

/**
 * How long a connection without a request stays open after the stop began. A client that sends on it meanwhile is answered, and
 * told to go; one that sends in the very moment in which it is closed gets a reset, and cannot know what became of its request.
 * Busy clients send again within milliseconds of an answer, also across a continent.
 */
const graceMs = 250

/**
 * Lets a server end without breaking off anybody. From the first call of what it answers, no new connection is taken and every
 * answer that has not begun carries `Connection: close`, so that each client leaves its connection by itself after an answer
 * (RFC 9112, section 9.6). It resolves when the last request has been answered; whatever is still open then is closed.
 *
 * Not `server.close()`, which closes at once what is idle: a client's next request may be on its way.
 * @param sockets what accepts the server's connections, where that is more than the server itself; read when the drain begins
 */
export function drainable(server: Server, sockets: readonly NetServer[] = [server]): () => Promise<void> {
  const unanswered = new Set<ServerResponse>()
  let draining = false
  let lastAnswered = () => {}

  server.prependListener('request', (_request, response: ServerResponse) => {
    if (draining) response.setHeader('connection', 'close')
    unanswered.add(response)
    response.once('close', () => {
      unanswered.delete(response)
      if (unanswered.size === 0) lastAnswered()
    })
  })

  return async () => {
    draining = true
    for (const response of unanswered) if (!response.headersSent) response.setHeader('connection', 'close')
    await Promise.race([Promise.all(sockets.map(closed)), delay(graceMs)])
    // Timers run before sockets are read: what arrived while the event loop was held up is a request, and its connection not idle.
    await turn()
    server.closeIdleConnections()
    if (unanswered.size > 0) await new Promise<void>((resolve) => (lastAnswered = resolve))
    server.closeAllConnections()
  }
}

/** Takes no more connections; resolves when the last one is gone. */
const closed = (socket: NetServer): Promise<void> =>
  new Promise((resolve) => NetServer.prototype.close.call(socket, () => resolve()))
