import { findBrowser } from '@orderflow/stack'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'

/** Chromium looks for its maker's hosts unless told not to. As root, as in most containers, it has no sandbox. */
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic']

/** @throws {Error} where there is no Chromium */
export function openBrowser(): Promise<Browser> {
  const executablePath = findBrowser()
  if (!executablePath) throw new Error('no Chromium: run `make test`, which installs it, or set CHROMIUM_PATH')
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: quiet })
}

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
