import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { send } from './support/http.ts'
import { requireStack } from './support/make.ts'
import { cancel, isPaid, newOrder, type Order, orderIs, orderOf, paymentsOf, place } from './support/orders.ts'
import { largestApproved, paths, status, urls } from './system.ts'

describe('an order over HTTP', () => {
  before(requireStack)

  it('is paid once, and can be read by its id and in the list', async () => {
    const { status: code, body } = await place()
    expect(code).to.equal(201)
    await isPaid(body.id)
    const [payment, ...others] = await paymentsOf(body.id)
    expect(payment).to.include({ orderId: body.id, amount: 42.5 })
    expect(others).to.deep.equal([])
    const { body: page } = await send<{ items: Order[] }>(`${urls.orders}${paths.orders}?limit=50`)
    expect(page.items.map(({ id }) => id)).to.include(body.id)
  })

  it('is refunded when it is cancelled after it was paid', async () => {
    const { body } = await place()
    await isPaid(body.id)
    expect((await cancel(body.id)).status).to.be.oneOf([200, 202])
    await orderIs(body.id, status.refunded)
    expect((await paymentsOf(body.id)).map((payment) => payment.status)).to.deep.equal([status.refundedPayment])
  })

  it('is rejected when its amount is too large', async () => {
    const { body } = await place(newOrder(largestApproved + 1))
    await orderIs(body.id, status.rejected)
  })

  it('is the same order for the same Idempotency-Key, and another body with that key is refused', async () => {
    const key = randomUUID()
    const answers = await Promise.all([place(newOrder(), key), place(newOrder(), key), place(newOrder(), key)])
    expect(new Set(answers.map(({ body }) => body.id)).size).to.equal(1)
    expect((await place(newOrder(1), key)).status).to.equal(422)
    await isPaid(answers[0].body.id)
    expect(await paymentsOf(answers[0].body.id)).to.have.length(1)
  })

  const bad: Record<string, [body: unknown, pointer: string]> = {
    'a total that is a text': [{ ...newOrder(), total: '42' }, '/total'],
    'no customer': [{ customerTaxId: 'T', total: 1 }, '/customerName'],
    'a negative total': [newOrder(-1), '/total'],
  }
  for (const [what, [body, pointer]] of Object.entries(bad)) {
    it(`is refused with 400, and with the place of the mistake, for ${what}`, async () => {
      const answer = await place(body)
      expect(answer.status).to.equal(400)
      expect(answer.body.errors?.map((error) => error.pointer)).to.include(pointer)
    })
  }

  it('is refused with 400 when the body is no JSON', async () => {
    const answer = await place('{"customerName":')
    expect(answer.status).to.equal(400)
    expect(`${answer.body.title} ${answer.body.detail}`).to.match(/JSON/)
  })

  it('is not found under an unknown id', async () => {
    expect((await orderOf(randomUUID())).status).to.equal(404)
  })
})
