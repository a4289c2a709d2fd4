import type { Locator, Page } from 'playwright-core'

/** Returns an operation on the page of an API, such as `GET /v1/orders/{id}`. */
export function operationOf(page: Page, operation: string): Locator {
  const [method = '', path = ''] = operation.split(' ')
  const exactly = new RegExp(`^${path.replace(/[{}/]/g, '.?$&')}$`)
  return page
    .locator(`.opblock-${method.toLowerCase()}`)
    .filter({ has: page.locator('.opblock-summary-path', { hasText: exactly }) })
}

/** Returns the request and the answer of an executed operation, without the documented examples. */
export const answerOf = (operation: Locator): Locator =>
  operation.locator('.responses-inner > div', { has: operation.page().locator('.live-responses-table') })

/** Executes an operation of a page with its example values. */
export async function execute(page: Page, operation: string): Promise<Locator> {
  const block = operationOf(page, operation)
  await block.locator('.opblock-summary-control').click()
  await block.getByRole('button', { name: 'Try it out' }).click()
  await block.getByRole('button', { name: 'Execute' }).click()
  await block.locator('.live-responses-table .response-col_status').last().waitFor()
  return block
}
