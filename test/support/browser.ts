import type { Locator, Page } from 'playwright-core'

/** Executes an operation of a page, such as `GET /v1/orders/{id}`, with its example values. */
export async function execute(page: Page, operation: string): Promise<Locator> {
  const [method = '', path = ''] = operation.split(' ')
  const exactly = new RegExp(`^${path.replace(/[{}/]/g, '.?$&')}$`)
  const block = page
    .locator(`.opblock-${method.toLowerCase()}`)
    .filter({ has: page.locator('.opblock-summary-path', { hasText: exactly }) })
  await block.locator('.opblock-summary-control').click()
  await block.getByRole('button', { name: 'Try it out' }).click()
  await block.getByRole('button', { name: 'Execute' }).click()
  await block.locator('.live-responses-table .response-col_status').last().waitFor()
  return block
}
