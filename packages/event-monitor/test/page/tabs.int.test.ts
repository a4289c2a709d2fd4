import { eventually } from '@orderflow/stack/base'
import { openPage } from '@orderflow/stack/browser'
import { expect } from 'chai'
import type { BrowserContext, Page } from 'playwright-core'
import { pageTests } from './support/page-tests.ts'

const key = `ofk_Ab3dEf9h_${'x'.repeat(43)}`

describe('the live stream of many tabs', () => {
  const tests = pageTests()
  const isLive = (page: Page) => page.locator('.completeness', { hasText: '● live' }).waitFor()
  const count = (page: Page, matched: number) => page.getByText(`${matched} events since you opened this view`)

  /** Opens more tabs in the same browser. Each has another filter. */
  async function openMore(context: BrowserContext, many: number): Promise<Page[]> {
    const pages: Page[] = []
    for (let index = 0; index < many; index += 1) {
      const page = await context.newPage()
      await openPage(page, `${tests.monitor.url}/?topic=topic-${index}`, page.locator('.event-row .what').first())
      pages.push(page)
    }
    return pages
  }

  it('filters the events for each tab', async () => {
    const first = await tests.open('/')
    const pages = [first, ...(await openMore(first.context(), 8))]
    for (const page of pages) await isLive(page)
    await eventually(() => tests.monitor.viewers === 1, 'one stream for all tabs')
    await eventually(() => tests.monitor.filters.at(-1)?.get('topic') === 'topic-7', 'a view for each tab')
    for (const view of [0, 8]) tests.monitor.batch({ matched: 10 + view }, view)
    await count(first, 10).waitFor()
    await count(pages[8] as Page, 18).waitFor()
    expect(await count(pages[4] as Page, 10).count()).to.equal(0)
  })

  it('continues when a tab is closed, or crashes', async () => {
    const first = await tests.open('/')
    const pages = await openMore(first.context(), 2)
    for (const page of [first, ...pages]) await isLive(page)
    await pages[0]?.close()
    const session = await first.context().newCDPSession(first)
    const crashed = first.waitForEvent('crash')
    // Chromium sends no answer from a crashed tab.
    session.send('Page.crash').catch(() => {})
    await crashed
    const [, last] = pages as [Page, Page]
    await last.bringToFront()
    await eventually(async () => {
      tests.monitor.batch({ matched: 1 })
      return (await last.getByText(/\d events? since you opened this view/).count()) > 0
    }, 'events in the last tab')
    await isLive(last)
  })

  it('ends in a tab that was opened in the background', async () => {
    const page = await tests.open('/')
    await isLive(page)
    const other = await page.context().newPage()
    await other.clock.install()
    await other.addInitScript(() => {
      Object.defineProperty(document, 'hidden', { get: () => true })
    })
    await openPage(other, `${tests.monitor.url}/?topic=hidden`, other.locator('.event-row .what').first())
    await eventually(() => tests.monitor.filters.some((filter) => filter.get('topic') === 'hidden'), 'a view')
    await other.clock.fastForward(6_000)
    await other.getByText('paused: the tab was hidden').waitFor()
    await isLive(page)
  })

  it('excludes a tab before its sign-in', async () => {
    tests.monitor.keys = { [key]: ['events:read'] }
    const page = await tests.open('/')
    await page.getByLabel('API key or token').fill(key)
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click()
    await isLive(page)
    const other = await page.context().newPage()
    await openPage(other, tests.monitor.url, other.getByRole('dialog', { name: 'Sign in' }))
    await other.locator('.completeness', { hasText: 'not signed in' }).waitFor()
    tests.monitor.batch({ matched: 4 })
    await count(page, 4).waitFor()
    expect(await other.locator('.event-row .what').count()).to.equal(0)
    expect(await count(other, 4).count()).to.equal(0)
    const streams = tests.monitor.requests.filter(({ path }) => path === '/v1/live')
    expect(new Set(streams.map(({ headers }) => headers.authorization))).to.deep.equal(
      new Set([`Bearer ${key}`, undefined]),
    )
  })

  it('opens for each tab in a browser without shared workers', async () => {
    const page = await tests.open('/')
    await page.context().addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'SharedWorker')
    })
    const other = await page.context().newPage()
    await openPage(other, tests.monitor.url, other.locator('.event-row .what').first())
    await isLive(other)
    await eventually(() => tests.monitor.viewers === 2, 'a second stream')
  })
})
