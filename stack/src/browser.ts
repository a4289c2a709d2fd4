import { type Browser, chromium } from 'playwright-core'
import { findBrowser } from './provision/browser.ts'

/** Chromium looks for its maker's hosts unless told not to. As root, as in most containers, it has no sandbox. */
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic']

/**
 * Opens the Chromium of this machine, for whoever tests, measures or photographs a page.
 * @throws {Error} where there is no Chromium
 */
export function openBrowser(args: string[] = []): Promise<Browser> {
  const executablePath = findBrowser()
  if (!executablePath) throw new Error('no Chromium: run `make test`, which installs it, or set CHROMIUM_PATH')
  return chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0, args: [...quiet, ...args] })
}
