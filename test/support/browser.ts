import type { Locator, Page } from 'playwright-core'

/**
 * Opens an operation of a service's page, such as `GET /v1/orders/{id}`, and presses "Try it out" and "Execute" with the examples as
 * they stand. Answers the part of the page that holds it.
 */
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
