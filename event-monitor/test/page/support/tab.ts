import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core'

/** A page that is tested: what it wrote to its console as errors, and what it asked of others than its monitor. */
export interface Tab {
  page: Page
  errors: string[]
  strangers: string[]
  close: () => Promise<void>
}

/** Opens a path, and keeps an eye on what must not happen. */
export async function openTab(
  browser: Browser,
  url: string,
  path: string,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  const context: BrowserContext = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  const tab: Tab = { page, errors: [], strangers: [], close: () => context.close() }
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes(networkChanged)) tab.errors.push(message.text())
  })
  page.on('pageerror', (error) => tab.errors.push(String(error)))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) tab.strangers.push(request.url())
  })
  while (await isLost(page, url + path)) {}
  return tab
}

/**
 * What Chromium says of each request that is under way while a network of this machine comes or goes, on loopback too: containers that start
 * beside the tests bring theirs. Whoever reads the page would load it again.
 */
const networkChanged = 'net::ERR_NETWORK_CHANGED'

/** Opens an address, and answers whether something was lost before its view was drawn. */
async function isLost(page: Page, address: string): Promise<boolean> {
  const predicate = (request: Request) => request.failure()?.errorText === networkChanged
  const lost = page.waitForEvent('requestfailed', { predicate, timeout: 0 }).then(
    () => true,
    () => false,
  )
  await page.goto(address).catch((error: Error) => {
    if (!error.message.includes(networkChanged)) throw error
  })
  const drawn = page
    .locator('main > *')
    .first()
    .waitFor()
    .then(() => false)
  return Promise.race([lost, drawn])
}
