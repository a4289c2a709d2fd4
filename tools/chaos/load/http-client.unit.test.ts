import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { type Book, openBook } from '../ledger/book.ts'
import { createHttpClient } from './http-client.ts'
import { createTally } from './tally.ts'

interface Row {
  id: string | null
  accepted: number
  gave_up: number
  cancel: number
}

describe('the HTTP client of the load', () => {
  /** The answers of the server, in order. The server repeats the last answer. `break` breaks the connection. */
  let answers: ('break' | { status: number; body: object })[]
  let requests: { path: string; key: string | undefined }[]
  let server: Server
  let url: string
  let book: Book
  let isOver: boolean

  beforeEach(async () => {
    requests = []
    isOver = false
    book = openBook({})
    server = createServer((request, response) => {
      requests.push({ path: request.url ?? '', key: request.headers['idempotency-key'] as string | undefined })
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer === 'break' || !answer) return request.socket.destroy()
      response.writeHead(answer.status).end(JSON.stringify(answer.body))
      return undefined
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  const client = () =>
    createHttpClient({ urls: [url], book, tally: createTally(), keys: 'k', isOver: () => isOver, patienceMs: 1 })
  const place = () => client().place({ name: 'http 1', total: 1, cancelAfterMs: undefined })
  const row = () => book.query<Row>('SELECT id, accepted, gave_up, cancel FROM attempt')[0]
  const surprises = () => book.query<{ what: string }>('SELECT what FROM surprise').map(({ what }) => what)

  it('repeats a request with the same key until it is accepted', async () => {
    answers = ['break', { status: 503, body: { orderId: 'a' } }, { status: 201, body: { id: 'a' } }]
    expect(await place()).to.deep.equal({ id: 'a', stored: true })
    expect(requests).to.deep.equal(Array.from({ length: 3 }, () => ({ path: '/v1/orders', key: 'k-http-1' })))
    expect(row()).to.include({ id: 'a', accepted: 1, gave_up: 0 })
    expect(surprises()).to.deep.equal([])
  })

  it('records the order before the request is answered', async () => {
    answers = ['break']
    const placing = place()
    expect(row()).to.include({ id: null, accepted: 0 })
    isOver = true
    await placing
  })

  it('gives up when the test is over, and records that it gave up', async () => {
    answers = [{ status: 503, body: {} }]
    isOver = true
    expect(await place()).to.equal(undefined)
    expect(row()).to.include({ accepted: 0, gave_up: 1 })
  })

  it('records a rejection as unexpected, and stops', async () => {
    answers = [{ status: 422, body: {} }]
    expect(await place()).to.equal(undefined)
    expect(requests).to.have.length(1)
    expect(surprises()).to.deep.equal(['http 1: order answered 422'])
  })

  it('records a server error as unexpected, and continues', async () => {
    answers = [
      { status: 500, body: {} },
      { status: 202, body: { id: 'a' } },
    ]
    expect(await place()).to.deep.equal({ id: 'a', stored: false })
    expect(surprises()).to.deep.equal(['http 1: order answered 500'])
  })

  it('reports an Idempotency-Key that is answered with two different orders', async () => {
    answers = [
      { status: 503, body: { orderId: 'a' } },
      { status: 503, body: { orderId: 'b' } },
      { status: 201, body: { id: 'b' } },
    ]
    await place()
    expect(surprises()).to.deep.equal(['http 1: one key stands for a and b'])
  })

  it('cancels the order, and accepts 404 as a temporary answer only before the order is stored', async () => {
    answers = [{ status: 201, body: { id: 'a' } }]
    await place()
    answers = [
      { status: 404, body: {} },
      { status: 200, body: { id: 'a' } },
    ]
    await client().cancel('http 1', { id: 'a', stored: false })
    expect(row()).to.include({ cancel: 2 })
    expect(surprises()).to.deep.equal([])
    answers = [{ status: 404, body: {} }]
    await client().cancel('http 1', { id: 'a', stored: true })
    expect(surprises()).to.deep.equal(['http 1: cancel answered 404'])
  })
})
