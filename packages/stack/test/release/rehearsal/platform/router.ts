import { createServer, request, type Server } from 'node:http'
import type { AppState } from './state.ts'

/** Creates the public address of an app, which leads to a running web process or an error page of the platform. */
export function createRouter(appOf: () => AppState): Server {
  return createServer((incoming, outgoing) => {
    const dyno = appOf().dynos.find(({ state }) => state === 'up')
    const refuse = (code: string) => {
      if (!outgoing.headersSent) outgoing.writeHead(503, { 'content-type': 'text/html' })
      outgoing.end(`<title>Application error</title><p>${code}</p>`)
    }
    if (!dyno?.port) return refuse('No web processes running')
    const { method, url, headers } = incoming
    const forwarded = request({ host: '127.0.0.1', port: dyno.port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.once('error', () => refuse('App crashed'))
    incoming.pipe(forwarded)
  })
}
