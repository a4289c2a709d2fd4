import { openBrowser, openPage } from '@orderflow/stack/browser'
import { after, afterEach, before, beforeEach } from 'mocha'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { builtPage } from './built-page.ts'
import { FakeMonitor } from './monitor.ts'
import { openTab, type Tab } from './tab.ts'

/**
 * Starts a browser and a fake monitor for the tests of a suite. Each test begins with the same answers.
 * @param prefix the path prefix of a proxy
 * @returns functions that open a path in a tab, which is closed after the test
 */
export function pageTests(prefix = '') {
  const own = { monitor: undefined as unknown as FakeMonitor, browser: undefined as unknown as Browser }
  const tabs: Tab[] = []
  before(async () => {
    own.monitor = new FakeMonitor(await builtPage(), prefix)
    await own.monitor.start()
    own.browser = await openBrowser(['--enable-precise-memory-info'])
  })
  after(async () => {
    await own.browser?.close()
    await own.monitor?.stop()
  })
  beforeEach(() => own.monitor.reset())
  afterEach(async () => {
    for (const tab of tabs.splice(0)) await tab.close()
  })
  return {
    get monitor() {
      return own.monitor
    },
    async open(path: string, options?: BrowserContextOptions): Promise<Page> {
      return (await this.tab(path, options)).page
    },
    reload: (page: Page, shown: Locator): Promise<void> => openPage(page, page.url(), shown),
    async tab(path: string, options?: BrowserContextOptions): Promise<Tab> {
      const tab = await openTab(own.browser, own.monitor.url, path, options)
      tabs.push(tab)
      return tab
    },
  }
}
