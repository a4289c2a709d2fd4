import { openBrowser, openPage } from '@orderflow/cli/browser'

/** What somebody had who looked on. */
export interface Seen {
  /** Of each batch of rows the oldest that is shown: milliseconds from when the broker had it until it was drawn. */
  ages: number[]
  /** Bytes of the tab's heap, after a collection. */
  heapBytes: number
}

/**
 * Runs in the page. Whenever it changed, it looks at the rows before the next frame; a message that is posted there comes after that was drawn. Rows
 * are as old as their `datetime`, which the broker gave them: on one machine, so by one clock.
 */
const watching = `
  window.ages = []
  let newest = ''
  const look = () => {
    const times = [...document.querySelectorAll('.event-row time')].map((time) => time.getAttribute('datetime') ?? '')
    const fresh = times.filter((time) => time > newest)
    if (fresh.length === 0) return
    const [isFirst, oldest] = [newest === '', fresh.at(-1)]
    newest = fresh[0]
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => isFirst || window.ages.push(Date.now() - Date.parse(oldest))
    port2.postMessage(undefined)
  }
  let isAsked = false
  new MutationObserver(() => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => {
      isAsked = false
      look()
    })
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributeFilter: ['datetime'] })
  look()`

/**
 * Runs `work` while a real browser shows the monitor's first view.
 * @throws {Error} where there is no Chromium
 */
export async function lookOn(url: string, work: () => Promise<void>): Promise<Seen> {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    await openPage(page, url, page.locator('.event-row time').first())
    await page.evaluate(watching)
    await work()
    const ages: number[] = await page.evaluate('window.ages')
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('HeapProfiler.collectGarbage')
    const { usedSize } = await cdp.send('Runtime.getHeapUsage')
    return { ages, heapBytes: usedSize }
  } finally {
    await browser.close()
  }
}
