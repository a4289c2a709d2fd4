import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@orderflow/cli'
import { expect } from 'chai'
import type { CDPSession } from 'playwright-core'
import { pageTests } from './support/page-tests.ts'
import { rowOf } from './support/sample.ts'

/** What the tab holds after a collection, in megabytes. It leaves up to 5 that a later one takes: what the last batches drew is let go in steps. */
async function heapOf(cdp: CDPSession): Promise<number> {
  await cdp.send('HeapProfiler.collectGarbage')
  return (await cdp.send('Runtime.getHeapUsage')).usedSize / 2 ** 20
}

/** The least of several. */
async function leastHeap(cdp: CDPSession): Promise<number> {
  const sizes: number[] = []
  while (sizes.length < 8) {
    sizes.push(await heapOf(cdp))
    await sleep(200)
  }
  return Math.min(...sizes)
}

describe('a tab that stays open at 10,000 events a second', () => {
  const tests = pageTests()

  it('counts every event, and of three thousand batches holds what it holds of a thousand', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    const cdp = await page.context().newCDPSession(page)
    let afterThousand = Number.NaN
    for (let batch = 1; batch <= 3_000; batch += 1) {
      const rows = Array.from({ length: 20 }, (_, index) => rowOf(batch * 1000 - index))
      tests.monitor.batch({ received: 1000, matched: 1000, rows })
      if (batch % 50 === 0) await page.getByText(`${(batch * 1000).toLocaleString('en')} since opened`).waitFor()
      if (batch === 1_000) afterThousand = await leastHeap(cdp)
    }
    expect(afterThousand).to.be.below(50)
    await eventually(
      async () => (await heapOf(cdp)) < Math.min(50, afterThousand + 2),
      `less than 2 MB more than the ${afterThousand.toFixed(1)} of a thousand batches`,
    )
    expect(await page.locator('.event-row').count()).to.be.below(80)
  })
})

describe('the first view', () => {
  const tests = pageTests()

  it('is drawn once, and asks for what is in the first view of the bundle alone', async () => {
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
