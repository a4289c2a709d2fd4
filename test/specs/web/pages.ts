import { orderUrl, orderWith } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import type { Payment } from '@orderflow/payment-service/payment'
import { entryOf, type RunningStack, urlOf } from '@orderflow/stack'
import { openBrowser, openPage, watchErrors } from '@orderflow/stack/browser'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { execute } from '../../support/web/browser.ts'
import { prefixProxy } from '../../support/web/prefix-proxy.ts'

export function interactivePages(running: () => RunningStack): void {
  describe('the interactive API pages', () => {
    let stack: RunningStack
    let browser: Browser
    let page: Page
    let errors: string[]
    before(async () => {
      stack = running()
      browser = await openBrowser()
      page = await browser.newPage({ ignoreHTTPSErrors: true })
      errors = watchErrors(page)
    })
    after(() => browser?.close())

    const open = (url: string) => openPage(page, `${url}/`, page.locator('.opblock').first())

    async function tryOut<T>(operation: string): Promise<{ status: number; body: T }> {
      const live = (await execute(page, operation)).locator('.live-responses-table')
      const status = Number.parseInt((await live.locator('.response-col_status').last().textContent()) ?? '', 10)
      const body = JSON.parse((await live.locator('.highlight-code pre').first().textContent()) ?? '') as T
      return { status, body }
    }

    it('redirects / to order-service’s page, where a user creates and reads an order without console errors', async () => {
      await open(orderUrl(stack))
      expect(page.url()).to.equal(`${orderUrl(stack)}/docs/`)
      const created = await tryOut<Order>('POST /v1/orders')
      expect(created.status).to.equal(201)
      await orderWith(orderUrl(stack), created.body.id, 'Paid')
      const read = await tryOut<Order>('GET /v1/orders/{id}')
      expect([read.status, read.body.id, read.body.status]).to.deep.equal([200, created.body.id, 'Paid'])
      const list = await tryOut<{ items: Order[] }>('GET /v1/orders')
      expect(list.body.items.map(({ id }) => id)).to.include(created.body.id)
      const cancelled = await tryOut<Order>('POST /v1/orders/{id}/cancel')
      expect([cancelled.status, cancelled.body.status]).to.deep.equal([200, 'Cancelled'])
      expect(errors).to.deep.equal([])
    })

    it('creates an order behind a proxy with a path prefix, and requests nothing outside the prefix', async () => {
      const proxy = await prefixProxy(orderUrl(stack), '/orders-api')
      try {
        const asked: string[] = []
        page.on('request', (request) => asked.push(request.url()))
        await open(proxy.url)
        expect(page.url()).to.equal(`${proxy.url}/docs/`)
        expect((await tryOut<Order>('POST /v1/orders')).status).to.equal(201)
        expect(asked).to.include(`${proxy.url}/v1/orders`)
        expect(asked.filter((url) => !url.startsWith(`${proxy.url}/`) && !url.startsWith('data:'))).to.deep.equal([])
        expect(errors).to.deep.equal([])
      } finally {
        await proxy.close()
      }
    })

    it('publishes and validates an envelope on event-gateway’s page without console errors', async () => {
      await open(urlOf(stack, 'event-gateway'))
      const published = await tryOut<{ items: { outcome: string }[] }>('POST /v1/events/{topic}')
      expect([published.status, published.body.items[0]?.outcome]).to.deep.equal([202, 'accepted'])
      const judged = await tryOut<{ items: { variant: string }[] }>('POST /v1/envelopes/validate')
      expect([judged.status, judged.body.items[0]?.variant]).to.deep.equal([200, 'reduced'])
      expect(errors).to.deep.equal([])
    })

    it('creates and reads a payment on payment-service’s page over https without console errors', async () => {
      await open(entryOf(stack.services, 'payment-service').httpsUrl)
      const made = await tryOut<Payment>('POST /v1/payments')
      expect([made.status, made.body.status]).to.deep.equal([201, 'Approved'])
      const read = await tryOut<Payment>('GET /v1/payments/{id}')
      expect([read.status, read.body]).to.deep.equal([200, made.body])
      const list = await tryOut<{ items: Payment[] }>('GET /v1/payments')
      expect(list.body.items).to.deep.include(made.body)
      expect(errors).to.deep.equal([])
    })
  })
}
