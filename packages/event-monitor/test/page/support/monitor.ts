import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { SiteFile } from '@orderflow/service-kit'
import type { LiveBatch, LiveMessages, Problem } from '../../../src/api/index.ts'
import { pagePolicy, type readPage } from '../../../src/page-files.ts'
import { type Answers, answerTo, sampleAnswers } from './answers.ts'

export interface ReceivedRequest {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
  headers: IncomingMessage['headers']
}

/** A server that replaces the monitor. It serves a built page, and returns the answers that a test sets. */
export class FakeMonitor {
  answers: Answers = sampleAnswers()
  requests: ReceivedRequest[] = []
  /** Maps the beginning of a path to the problem that the server returns for this path. */
  problems = new Map<string, Problem>()
  /** Maps the beginning of a path to a promise, for which the server waits before it answers. */
  waits = new Map<string, Promise<unknown>>()
  /** The scopes of each key; null without authentication. */
  keys: Record<string, string[]> | null = null
  url = ''
  /** Each stream, and the number of its views. */
  readonly #streams = new Map<ServerResponse, number>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  #sequence = 0
  #timer: ReturnType<typeof setInterval> | undefined
  readonly #page: ReturnType<typeof readPage>

  readonly #prefix: string

  /** @param prefix the path prefix of a proxy */
  constructor(page: ReturnType<typeof readPage>, prefix = '') {
    this.#page = page
    this.#prefix = prefix
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#prefix}`
    this.#timer = setInterval(() => this.batch({}), 1000)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  reset(): void {
    this.answers = sampleAnswers()
    this.requests = []
    this.problems.clear()
    this.waits.clear()
    this.keys = null
  }

  get viewers(): number {
    return this.#streams.size
  }

  /** @param only the index of a view; by default, all views receive the message */
  send<Name extends keyof LiveMessages>(name: Name, message: Omit<LiveMessages[Name], 'view'>, only?: number): void {
    for (const [stream, views] of this.#streams) {
      for (let view = only ?? 0; view < (only ?? views - 1) + 1; view += 1)
        stream.write(`event: ${name}\ndata: ${JSON.stringify({ ...message, view })}\n\n`)
    }
  }

  batch(some: Partial<LiveBatch>, view?: number): void {
    this.#sequence += 1
    const { indexLag, newest, kept, oldestKept, unreadable, isConnected } = this.answers.completeness
    this.send(
      'batch',
      {
        sequence: this.#sequence,
        at: new Date().toISOString(),
        received: 0,
        matched: 0,
        invalid: 0,
        rows: [],
        added: { topic: [], type: [], publisher: [], validity: [] },
        lost: { batches: 0, received: 0, matched: 0 },
        completeness: { indexLag, newest, kept, oldestKept, unreadable, isConnected },
        ...some,
      },
      view,
    )
  }

  cutStreams(): void {
    for (const stream of this.#streams.keys()) stream.destroy()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: sent = '/' } = request
    if (!sent.startsWith(`${this.#prefix}/`)) return json(response, 404, {})
    const url = new URL(sent.slice(this.#prefix.length), 'http://localhost')
    if (!url.pathname.startsWith('/v1/')) return this.#file(url.pathname, response)
    const body = request.method === 'POST' ? JSON.parse((await text(request)) || 'null') : undefined
    const { method = 'GET', headers } = request
    this.requests.push({ method, path: url.pathname, query: url.searchParams, body, headers })
    await [...this.waits].find(([start]) => url.pathname.startsWith(start))?.[1]
    const problem =
      this.#denial(headers.authorization) ?? [...this.problems].find(([start]) => url.pathname.startsWith(start))?.[1]
    if (problem) return json(response, problem.status, problem)
    if (url.pathname === '/v1/live') return this.#stream(response, Math.max(1, url.searchParams.getAll('view').length))
    const answer = answerTo(this.answers, url.pathname, url.searchParams, body)
    if (answer !== undefined) return json(response, 200, answer)
    json(response, 404, { type: 'not-found', title: 'Not found', status: 404 })
  }

  /** Returns the same problems as packages/service-kit/src/web/security.ts. */
  #denial(authorization = ''): Problem | undefined {
    if (this.keys === null) return undefined
    const scopes = this.keys[authorization.replace('Bearer ', '')]
    const problem = { type: 'unauthenticated', title: 'A valid token or key is required', status: 401 }
    if (!authorization) return { ...problem, detail: 'Send Authorization: Bearer with a token or an API key.' }
    if (!scopes) return { ...problem, detail: 'The API key is unknown or was revoked. Ask the operator for a new one.' }
    if (scopes.includes('events:read')) return undefined
    const detail = `The operation needs the scope events:read. The scopes of the token or key are: ${scopes.join(' ')}.`
    return { type: 'insufficient-scope', title: 'The token or key does not allow this operation', status: 403, detail }
  }

  /** Returns the filters of all requests for a stream. */
  get filters(): URLSearchParams[] {
    return this.requests
      .filter(({ path }) => path === '/v1/live')
      .flatMap(({ query }) =>
        query.has('view') ? query.getAll('view').map((view) => new URLSearchParams(view)) : [query],
      )
  }

  #stream(response: ServerResponse, views: number): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    this.#streams.set(response, views)
    response.on('close', () => this.#streams.delete(response))
    const hello = { completeness: this.answers.completeness, batchMs: 100, maxRows: 20 }
    for (let view = 0; view < views; view += 1)
      response.write(`event: hello\ndata: ${JSON.stringify({ ...hello, view })}\n\n`)
  }

  #file(path: string, response: ServerResponse): void {
    const file = this.#page(path)
    if (!file) json(response, 404, {})
    else response.writeHead(file.status, headersOf(file.file)).end(file.file.br ?? file.file.bytes)
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const headersOf = ({ type, br, etag, immutable }: SiteFile) => ({
  'content-type': type,
  ...(br && { 'content-encoding': 'br' }),
  etag,
  'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  'content-security-policy': pagePolicy,
  'x-content-type-options': 'nosniff',
})
