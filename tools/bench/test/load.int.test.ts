import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { placeOrders, postOrders } from '../support/load.ts'

describe('the load of orders', () => {
  let server: Server
  let url: string
  let seen = 0
  let answer: (count: number) => number | undefined

  beforeEach(async () => {
    seen = 0
    server = createServer(async (request, response) => {
      await request.toArray()
      seen += 1
      const status = answer(seen)
      if (status === undefined) return void request.socket.destroy()
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ id: `order-${seen}` }))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/orders`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  it('counts successful and failed requests of autocannon', async () => {
    answer = (count) => (count % 4 === 0 ? 503 : 201)
    const load = await postOrders(url, { connections: 10, amount: 200 })
    expect(load).to.include({ answered: 150, failed: 50 })
    expect(load.perSecond).to.be.closeTo((150 * 1_000) / (load.endedAt - load.startedAt), 1)
    expect(seen).to.equal(200)
  })

  it('places every order at a steady rate, and distinguishes broken connections from refusals', async () => {
    answer = (count) => [201, 503, undefined][count % 3]
    const orders = await placeOrders(url, 100, 0.3)
    const statuses = orders.map(({ status }) => status).sort()
    expect(statuses).to.deep.equal([...Array(10).fill(0), ...Array(10).fill(201), ...Array(10).fill(503)])
    expect(orders.filter(({ id }) => id !== undefined)).to.have.length(10)
    expect(orders.map(({ due }) => Math.round(due - (orders[0]?.due ?? 0)))).to.deep.equal(
      Array.from({ length: 30 }, (_, index) => index * 10),
    )
  })
})
