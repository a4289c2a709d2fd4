import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { sampleAnswers } from './support/answers.ts'
import { pageTests } from './support/page-tests.ts'

describe('the page below a path prefix at a proxy', () => {
  const tests = pageTests('/watch/events')
  const { row } = sampleAnswers().event
  const deep = `/e/${row.position.topic}/${row.position.partition}/${row.position.offset}`
  const pathOf = (page: { url(): string }) => new URL(page.url()).pathname

  for (const path of ['/', '/dead', '/health', deep, `/c/${row.correlationId}`, '/nowhere/at/all/for/sure/here']) {
    it(`loads ${path.replace(/[\da-f-]{36}/, 'CORRELATION-ID')} with all files and data from below the prefix`, async () => {
      const { page, errors, strangers } = await tests.tab(path)
      expect(pathOf(page)).to.equal(`/watch/events${path}`)
      const hrefs = await page.evaluate<string[]>(
        `Array.from(document.querySelectorAll('a[href^="/"]'), (a) => a.getAttribute('href'))`,
      )
      expect(hrefs.length).to.be.above(5)
      expect(hrefs.filter((href) => !href.startsWith('/watch/events/'))).to.deep.equal([])
      const isExpected = (error: string) => path.startsWith('/nowhere') && error.includes('404')
      expect([errors.filter((error) => !isExpected(error)), strangers]).to.deep.equal([[], []])
    })
  }

  it('receives the stream of events', async () => {
    await tests.tab('/')
    await eventually(() => tests.monitor.viewers > 0, 'a stream below the prefix')
  })

  it('stays below the prefix when the user follows links, presses keys, searches and goes back', async () => {
    const { page, strangers } = await tests.tab('/')
    await page
      .getByRole('navigation', { name: 'Views' })
      .getByRole('link', { name: /^Dead letters/ })
      .click()
    await page.waitForURL('**/watch/events/dead')
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL('**/watch/events/health')
    expect(await page.locator('nav a[aria-current=page]').textContent()).to.contain('Health')
    const search = page.getByRole('searchbox')
    await search.fill('orderevents/0/7')
    await search.press('Enter')
    await page.waitForURL('**/watch/events/e/orderevents/0/7')
    await page.goBack()
    expect(pathOf(page)).to.equal('/watch/events/health')
    await page.getByRole('link', { name: 'Event monitor: live' }).click()
    await page.waitForURL('**/watch/events/')
    expect(strangers).to.deep.equal([])
  })
})
