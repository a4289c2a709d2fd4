import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import type { CDPSession } from 'playwright-core'
import { pageTests } from './support/page-tests.ts'
import { rowOf } from './support/sample.ts'

/** Returns the tab's heap in MiB after a garbage collection, which may leave up to 5 MiB of garbage. */
async function heapOf(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage')
  return (await cdp.send('Runtime.getHeapUsage')).usedSize / 2 ** 20
}

/** Returns the smallest heap after eight garbage collections, in MiB. */
async function leastHeap(cdp: CDPSession): Promise<number> {
  const sizes: number[] = []
  while (sizes.length < 8) {
    sizes.push(await heapOf(cdp))
    await sleep(200)
  }
  return Math.min(...sizes)
}

describe('memory of a tab at 10,000 events per second', () => {
  const tests = pageTests()

  it('does not grow between batches 1,000 and 3,000, while the tab counts every event', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    const cdp = await page.context().newCDPSession(page)
    let afterThousand = Number.NaN
    for (let batch = 1; batch <= 3_000; batch += 1) {
      const rows = Array.from({ length: 20 }, (_, index) => rowOf(batch * 1000 - index))
      tests.monitor.batch({ received: 1000, matched: 1000, rows })
      if (batch % 50 === 0)
        await page.getByText(`${(batch * 1000).toLocaleString('en')} events since you opened this view`).waitFor()
      if (batch === 1_000) afterThousand = await leastHeap(cdp)
    }
    expect(afterThousand).to.be.below(50)
    await eventually(
      async () => (await heapOf(cdp)) < Math.min(50, afterThousand + 2),
      `a heap at most 2 MiB larger than the ${afterThousand.toFixed(1)} MiB after batch 1,000`,
    )
    expect(await page.locator('.event-row').count()).to.be.below(80)
  })
})

describe('the first view', () => {
  const tests = pageTests()

  it('loads only the files of the bundle’s first view', async () => {
    const { page } = await tests.tab('/')
    await page.locator('.event-row .what').first().waitFor()
    await tests.reload(page, page.locator('.event-row .what').first())
    const usage = await page.evaluate(() => {
      const [paint] = performance.getEntriesByName('first-contentful-paint')
      return {
        paint: paint?.startTime ?? 0,
        files: performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
      }
    })
    console.log(`      first contentful paint of a second visit: ${usage.paint.toFixed(0)} ms`)
    expect(usage.files.filter((path) => path.includes('code-editor'))).to.deep.equal([])
  })
})
