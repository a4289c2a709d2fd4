import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core'
import { findBrowser } from './provision/tools.ts'

export { findBrowser }

/** Chromium looks for its maker's hosts unless told not to. As root, as in most containers, it has no sandbox. */
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic']

/**
 * Opens the Chromium of this machine, for whoever tests, measures or photographs a page.
 * @throws {Error} where there is no Chromium
 */
export function openBrowser(args: string[] = []): Promise<Browser> {
  const executablePath = findBrowser()
  if (!executablePath) throw new Error('no Chromium: ./orderflow doctor says how to install it; or set CHROMIUM_PATH')
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: [...quiet, ...args] })
}

/**
 * The error of Chromium for each request that is under way while a network of this machine comes or goes, on loopback too: containers that start
 * beside the tests bring theirs. Whoever reads the page would load it again.
 */
const networkChanged = 'net::ERR_NETWORK_CHANGED'

/**
 * Returns whether a navigation failed because of such a change. Chromium may show its page of errors before it names
 * the reason.
 */
const isChange = ({ message }: Error) =>
  message.includes(networkChanged) || message.includes('another navigation to "chrome-error:')

/** Collects the errors of a page, from its console and uncaught ones. The list grows. */
export function watchErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes(networkChanged)) errors.push(message.text())
  })
  return errors
}

/**
 * Opens an address and waits until something is there, and loads it again where a part of it was lost to a change of
 * the network.
 */
export async function openPage(page: Page, address: string, shown: Locator): Promise<void> {
  while (await isLost(page, address, shown)) {}
}

async function isLost(page: Page, address: string, shown: Locator): Promise<boolean> {
  const predicate = (request: Request) => request.failure()?.errorText === networkChanged
  const lost = page.waitForEvent('requestfailed', { predicate, timeout: 0 }).then(
    () => true,
    () => false,
  )
  try {
    await page.goto(address)
  } catch (error) {
    if (isChange(error as Error)) return true
    throw error
  }
  return Promise.race([lost, shown.waitFor().then(() => false)])
}
