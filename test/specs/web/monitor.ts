import { orderUrl, orderWith, paymentsOf, paymentUrl } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { type RunningStack, urlOf } from '@orderflow/stack'
import { openBrowser, openPage, watchErrors } from '@orderflow/stack/browser'
import { publish } from '@orderflow/test-kit'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'

const taxId = 'GB-MONITOR-4711'

export function monitorPage(running: () => RunningStack): void {
  describe('the monitor’s page', () => {
    let stack: RunningStack
    let browser: Browser
    let page: Page
    let errors: string[]
    const monitor = () => urlOf(stack, 'event-monitor')
    before(async () => {
      stack = running()
      browser = await openBrowser()
      page = await browser.newPage()
      errors = watchErrors(page)
    })
    after(() => browser?.close())

    const open = (path: string) => openPage(page, monitor() + path, page.locator('main > *').first())

    async function publishOrder(AppName: string, payload: object) {
      const envelope = { ...full({ CustomerTaxId: taxId, ...payload }), AppId: crypto.randomUUID(), AppName }
      await publish(stack, { topic: 'orderevents', key: envelope.Payload.OrderId, envelope })
      return { id: envelope.Payload.OrderId, correlationId: envelope.CorrelationId }
    }

    it('shows new events as receivers see the events, but masks personal data', async () => {
      await open('/')
      await page.getByText('index up to date').waitFor()
      const { id, correlationId } = await publishOrder('lively-shop', { Total: 12 })
      await page.locator('[role=row]', { hasText: 'lively-shop' }).first().waitFor()
      await orderWith(orderUrl(stack), id, 'Paid')
      await open(`/c/${correlationId}`)
      await page.getByText('PaymentApproved@1').first().waitFor()
      await page.getByRole('status').filter({ hasText: /live$/ }).waitFor()
      expect(await page.content())
        .to.contain('lively-shop')
        .and.not.contain(taxId)
      expect(errors).to.deep.equal([])
    })

    it('lets a user find, edit, check and replay a broken event, and then see its payment', async () => {
      const { id, correlationId } = await publishOrder('broken-shop', { Total: '42.5' })
      await open('/dead')
      await page.locator('tr', { hasText: 'broken-shop' }).first().getByRole('link').first().click()
      await page.waitForURL('**/dead?group=*')
      await page.locator('tbody a.id').first().click()
      await page.waitForURL('**/dead/*')
      await page.getByText('services would reject this event again').waitFor()
      await page.locator('.cm-content').click()
      const text = await page.locator('.cm-content').innerText()
      expect(text).to.contain('"***{/Payload/CustomerTaxId}***"')
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(text.replace('"42.5"', '42.5'))
      await page.getByText('ready: every service would accept this event').waitFor()
      await page.getByText('would publish PaymentApproved@1 to paymentevents').waitFor()
      await page.getByRole('button', { name: 'Replay as edited' }).click()
      await page.getByText('replayed, and has not failed again').waitFor()
      await orderWith(orderUrl(stack), id, 'Paid')
      expect(await paymentsOf(paymentUrl(stack), id)).to.have.length(1)
      expect(await page.content()).not.to.contain(taxId)
      await open(`/c/${correlationId}`)
      await page.getByText('edited and replayed').first().waitFor()
      expect(errors).to.deep.equal([])
    })
  })
}
