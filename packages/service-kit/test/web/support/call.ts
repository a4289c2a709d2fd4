import { type IncomingHttpHeaders, type RequestListener, request as send } from 'node:http'
import { text as read } from 'node:stream/consumers'
import { withServer } from '../../../src/testing/http.ts'

export interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

export interface Received {
  status: number
  headers: IncomingHttpHeaders
  text: string
  json: Record<string, unknown>
}

/** Sends one request to an app with node:http, because fetch does not allow the headers Host and Sec-Fetch-Site. `OWN` is the app's origin. */
export function call(app: RequestListener, path: string, { method = 'GET', headers = {}, body }: Sent = {}) {
  return withServer(app, (url) => {
    const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('OWN', url)]))
    return new Promise<Received>((resolve, reject) => {
      const sent = send(url + path, { method, headers: own }, (response) => {
        const { statusCode: status = 0, headers } = response
        read(response).then((text) => {
          resolve({ status, headers, text, json: text.startsWith('{') ? JSON.parse(text) : {} })
        }, reject)
      })
      sent.on('error', reject).end(body)
    })
  })
}

export function post(app: RequestListener, path: string, body: string | Uint8Array, type = 'application/json') {
  return call(app, path, { method: 'POST', headers: { 'content-type': type }, body })
}
