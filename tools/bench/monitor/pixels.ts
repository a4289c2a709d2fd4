import { openBrowser, openPage } from '@orderflow/stack/browser'

export interface Seen {
  /** The milliseconds from the broker to the screen, for the oldest visible row of each batch. */
  ages: number[]
  /** Bytes of the tab’s heap after a garbage collection. */
  heapBytes: number
}

/**
 * Runs in the page. After each change it reads the rows before the next frame is drawn, and then sends a message. This message arrives
 * after the frame is drawn. A row’s `datetime` is the broker’s time, on the same machine.
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
 * Runs `work` while a browser shows the monitor.
 * @throws {Error} if Chromium is missing
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
