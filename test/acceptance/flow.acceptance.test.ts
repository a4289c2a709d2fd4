import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { eventually, send } from './http.ts'
import { findOrder, orderBecomes, orderIsPaid, paymentsOf, placeOrder, post, readAll } from './orders.ts'
import './running-stack.ts'
import {
  approvedUpTo,
  pageUrl,
  paymentStatuses,
  problemType,
  readOrder,
  readPage,
  readProblem,
  statuses,
  urls,
} from './system.ts'

describe('the flow of an order', () => {
  it('pays a new order once, with the total of the order', async () => {
    const { id } = await placeOrder(42.5)
    expect((await orderIsPaid(id)).total).to.equal(42.5)
    expect(await paymentsOf(id)).to.deep.equal([{ orderId: id, amount: 42.5, status: paymentStatuses.approved }])
  })

  it('refunds a paid order that is cancelled', async () => {
    const { id } = await placeOrder(12)
    await orderIsPaid(id)
    expect((await send(`${urls.orders}/${id}/cancel`, { method: 'POST' })).status).to.equal(200)
    await orderBecomes(id, statuses.refunded)
    expect(await paymentsOf(id)).to.have.length(1)
  })

  it('rejects the payment of an order above the limit', async () => {
    const { id } = await placeOrder(approvedUpTo + 1)
    await orderBecomes(id, statuses.rejected)
    expect((await paymentsOf(id)).map(({ status }) => status)).to.deep.equal([paymentStatuses.rejected])
  })

  it('returns the same order for the same Idempotency-Key, and rejects the key with another body', async () => {
    const key = randomUUID()
    const [first, second] = [await placeOrder(7, key), await placeOrder(7, key)]
    expect(second.id).to.equal(first.id)
    expect((await post(8, key)).status).to.equal(422)
    await orderIsPaid(first.id)
    expect(await paymentsOf(first.id)).to.have.length(1)
  })

  it('lists orders page by page, newest first, and returns each order by its id', async () => {
    const placed = [await placeOrder(1), await placeOrder(2), await placeOrder(3)].map(({ id }) => id)
    await Promise.all(placed.map((id) => orderIsPaid(id)))
    const listed = await eventually('the list has the new orders', async () => {
      const ids = (await readAll(urls.orders)).map((item) => readOrder(item).id)
      return placed.every((id) => ids.includes(id)) ? ids : undefined
    })
    expect(listed.filter((id) => placed.includes(id))).to.deep.equal([...placed].reverse())
    expect(new Set(listed).size).to.equal(listed.length)
    const first = readPage((await send(pageUrl(urls.orders, 1))).body)
    const second = readPage((await send(pageUrl(urls.orders, 1, first.next ?? ''))).body)
    const pages = [first, second].map(({ items }) => items.map((item) => readOrder(item).id))
    expect(pages).to.deep.equal([[listed[0]], [listed[1]]])
    for (const id of placed) expect((await findOrder(id))?.id).to.equal(id)
    expect(await findOrder(randomUUID())).to.equal(undefined)
  })

  const unnamed = { customerName: '', customerTaxId: 'GB-1', total: 1 }
  const refused: [string, () => ReturnType<typeof send>, Record<string, RegExp>][] = [
    ['a total that is text', () => post('42.5'), { '/total': /number/ }],
    [
      'an empty and a missing field',
      () => send(urls.orders, { body: { customerName: '', total: 1 } }),
      { '/customerName': /empty/, '/customerTaxId': /missing/ },
    ],
    ['a page size of 0', () => send(pageUrl(urls.orders, 0)), { limit: /1 to 100/ }],
    ['an id that is not a GUID', () => send(`${urls.orders}/one`), { id: /GUID/ }],
  ]
  for (const [what, request, faults] of refused) {
    it(`rejects ${what} with 400 and names the fault and its location`, async () => {
      const { status, headers, body } = await request()
      expect(status).to.equal(400)
      expect(headers['content-type']).to.contain(problemType)
      const problem = readProblem(body)
      expect(problem.status).to.equal(400)
      expect(problem.title).not.to.equal('')
      expect(problem.faults).to.have.all.keys(Object.keys(faults))
      for (const [place, wrong] of Object.entries(faults)) expect(problem.faults[place]).to.match(wrong)
    })
  }

  it('rejects a body that is not JSON with 400 and names the reason', async () => {
    const { status, headers, body } = await send(urls.orders, { body: `${JSON.stringify(unnamed).slice(0, -1)}` })
    expect(status).to.equal(400)
    expect(headers['content-type']).to.contain(problemType)
    expect(readProblem(body).title).to.contain('JSON')
  })
})
