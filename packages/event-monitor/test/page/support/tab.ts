import { openPage, watchErrors } from '@orderflow/stack/browser'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** A tested page, the errors in its console, and its requests to other hosts than the monitor. */
export interface Tab {
  page: Page
  errors: string[]
  strangers: string[]
  close: () => Promise<void>
}

export async function openTab(
  browser: Browser,
  url: string,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  const tab: Tab = { page, errors: watchErrors(page), strangers: [], close: () => context.close() }
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) tab.strangers.push(request.url())
  })
  await openPage(page, url + path, page.locator('main > *').first())
  return tab
}
