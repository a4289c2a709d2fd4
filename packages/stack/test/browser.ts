import { type Browser, chromium, type Locator, type Page, type Request } from 'playwright-core'
import { findBrowser } from '../src/provision/tools.ts'

export { findBrowser }

/** Stops Chromium from calling Google's hosts. */
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic']

/**
 * Starts Chromium. If this process is root, Chromium runs without its sandbox.
 * @throws {Error} if this machine has no Chromium
 */
export function openBrowser(args: string[] = []): Promise<Browser> {
  const executablePath = findBrowser()
  if (!executablePath) throw new Error('no Chromium: ./orderflow doctor shows how to install it; or set CHROMIUM_PATH')
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: [...quiet, ...args] })
}

/** Chromium's error when a network interface changes during a request. It also affects requests to loopback. */
const networkChanged = 'net::ERR_NETWORK_CHANGED'

/** Returns true if the network changed. Chromium may then show its error page, or automatically load the address again. */
const isChange = ({ message }: Error, address: string) =>
  [networkChanged, 'another navigation to "chrome-error:', `another navigation to "${address}"`].some((sign) =>
    message.includes(sign),
  )

export function watchErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes(networkChanged)) errors.push(message.text())
  })
  return errors
}

/** Waits until `shown` is visible. Loads the page again if a request fails because the network changed. */
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
    if (isChange(error as Error, address)) return true
    throw error
  }
  return Promise.race([lost, shown.waitFor().then(() => false)])
}
