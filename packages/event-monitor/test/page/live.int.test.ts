import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { pageTests } from './support/page-tests.ts'
import { completenessOf, noteRow, rowOf } from './support/sample.ts'

const none = { topic: [], type: [], publisher: [], validity: [] }

describe('the live view', () => {
  const tests = pageTests()
  const rowsOf = (from: number, count: number) => Array.from({ length: count }, (_, index) => rowOf(from - index))
  /** Waits until the stream of this page has begun. The monitor may still have the stream of an earlier page. */
  const isStreaming = (page: Page) => page.locator('.completeness', { hasText: '● live' }).waitFor()

  it('shows new events, counts all events exactly, and reports how many it does not show', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    await isStreaming(page)
    const added = { ...none, topic: [{ value: 'orderevents', count: 1000 }] }
    tests.monitor.batch({ received: 1200, matched: 1000, rows: rowsOf(5000, 20), added })
    await page.getByText('1,000 events since you opened this view').waitFor()
    await page.getByText('980 rows left out').waitFor()
    await page.getByText('980 more events in this time').waitFor()
    await page.locator('.event-row', { hasText: '/6000' }).first().waitFor()
    await page.locator('.facets button', { hasText: '32,204' }).waitFor()
    await page.getByText('of 3,400 shown').waitFor()
    tests.monitor.batch({ received: 3, matched: 3, invalid: 3, rows: rowsOf(5003, 3) })
    await page.getByText('3 not valid').waitFor()
    await page.getByText('1,003 events since you opened this view').waitFor()
  })

  it('links each row to its conversation, except the note of a replay', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    await isStreaming(page)
    tests.monitor.batch({ matched: 2, rows: [noteRow(5000), rowOf(4999)] })
    const links = (offset: number) => page.locator('.event-row', { hasText: `/${offset}` }).locator('a[href^="/c/"]')
    await links(5999).waitFor()
    expect(await links(6000).count()).to.equal(0)
    for (const key of ['j', 'c', 'j', 'c']) await page.keyboard.press(key)
    await page.waitForURL(`**/c/${rowOf(4999).correlationId}`)
  })

  it('reports rows that were lost because the browser was too slow', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    await isStreaming(page)
    tests.monitor.batch({ matched: 10, rows: rowsOf(5000, 10), lost: { batches: 2, received: 90, matched: 70 } })
    await page.getByText('80 events since you opened this view').waitFor()
    await page.getByText('70 rows left out because this browser was too slow').waitFor()
  })

  it('pauses when the user presses Space, keeps its rows, counts new events, and shows them when it continues', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    await isStreaming(page)
    await page.keyboard.press('Space')
    tests.monitor.batch({ matched: 30, rows: rowsOf(5000, 20) })
    await page.getByRole('button', { name: '30 new: continue' }).waitFor()
    expect(await page.locator('.event-row', { hasText: '/6000' }).count()).to.equal(0)
    const requests = () => tests.monitor.requests.filter(({ path }) => path === '/v1/events').length
    const before = requests()
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await eventually(() => requests() > before, 'a request for the newest page')
  })

  it('pauses while the user scrolls, and loads each older row once', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    const pages = () => tests.monitor.requests.filter(({ path }) => path === '/v1/events')
    for (const count of [2, 3]) {
      // Scrolls until the request is sent, because the view loads one page at a time.
      await eventually(async () => {
        await page.locator('.grid').evaluate((grid) => grid.scrollTo(0, grid.scrollHeight))
        return pages().length >= count
      }, 'a request for an older page')
    }
    await page.getByRole('button', { name: /0 new: continue/ }).waitFor()
    expect(pages().at(-1)?.query.get('cursor')).to.match(/^\d+$/)
    const positions = await page.locator('.event-row .position').allTextContents()
    expect(new Set(positions)).to.have.length(positions.length)
    expect(await page.locator('.event-row').count()).to.be.below(80)
  })

  it('keeps its filters in the address, and removes a filter by a click', async () => {
    const page = await tests.open('/')
    await page.locator('.facets button', { hasText: 'OrderCreated@1' }).click()
    await page.waitForURL('**/?name=OrderCreated&version=1')
    await page.locator('.facets button', { hasText: 'invalid-payload /Payload/Total' }).click()
    await page.waitForURL(/why=%2FPayload%2FTotal/)
    await page.locator('.facets button[aria-pressed=true]', { hasText: 'invalid-payload /Payload/Total' }).waitFor()
    await eventually(
      () => tests.monitor.filters.some((filter) => filter.get('why') === '/Payload/Total'),
      'a stream with the filter',
    )
    await page.getByRole('link', { name: 'Remove name: OrderCreated' }).click()
    await page.waitForURL((url) => !url.search.includes('name='))
    await page.goBack()
    await page.getByRole('link', { name: 'Remove name: OrderCreated' }).waitFor()
  })

  it('loads the time range that the user selects in the chart, and closes the stream for a past range', async () => {
    const page = await tests.open('/')
    // Waits for the facets, which arrive together with the chart’s rates.
    await page.locator('.facets button').first().waitFor()
    const box = await page.locator('.strip .u-over').boundingBox()
    if (!box) throw new Error('no strip')
    await page.mouse.move(box.x + 100, box.y + 30)
    await page.mouse.down()
    await page.mouse.move(box.x + 300, box.y + 40, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/from=.*&to=/)
    const params = new URL(page.url()).searchParams
    expect(Date.parse(params.get('to') ?? '')).to.be.above(Date.parse(params.get('from') ?? ''))
    await page.getByText('This time range has an end').waitFor()
  })

  it('opens the search with the key /, and opens a record position directly', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('total shop')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/?q=total+shop')
    await page.keyboard.press('/')
    await page.keyboard.type('orderevents/1/1204')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/e/orderevents/1/1204')
  })

  it('works with the keyboard alone', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    expect(await page.locator('.event-row.is-active').getAttribute('aria-rowindex')).to.equal('3')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/e/**')
    await page.locator('.json-line').first().waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL((url) => url.pathname === '/')
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL('**/health')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Shortcuts and search' }).waitFor()
  })

  it('reports a lost connection, connects again, and loads missed events', async () => {
    const page = await tests.open('/')
    await page.locator('.completeness', { hasText: 'live' }).waitFor()
    await isStreaming(page)
    tests.monitor.problems.set('/v1/live', { type: 'about:blank', title: 'not now', status: 503 })
    tests.monitor.cutStreams()
    await page.getByText('connection lost, connecting again').waitFor()
    const requests = () => tests.monitor.requests.filter(({ path }) => path === '/v1/events').length
    const before = requests()
    tests.monitor.problems.clear()
    await page.locator('.completeness', { hasText: '● live' }).waitFor()
    await eventually(() => requests() > before, 'a request for the newest page')
  })

  it('reports gaps, lag, and a failure of Kafka', async () => {
    const gap = {
      topic: 'orderevents',
      partition: 2,
      from: '10',
      to: '25',
      at: new Date().toISOString(),
      why: 'truncated' as const,
    }
    tests.monitor.answers.completeness = completenessOf({ gaps: [gap], indexLag: 1204 })
    const page = await tests.open('/')
    await page.locator('.completeness').getByText('index 1,204 records behind').waitFor()
    await page.locator('.gaps summary').click()
    await page.getByText('orderevents/2/10 to 25: deleted from the log').waitFor()
    await isStreaming(page)
    tests.monitor.batch({ completeness: completenessOf({ isConnected: false, indexLag: null }) })
    await page.getByText('the monitor cannot read the log').waitFor()
  })

  it('shows an event that arrives while the list is loading', async () => {
    const answered = Promise.withResolvers<void>()
    tests.monitor.waits.set('/v1/events', answered.promise)
    const page = await tests.open('/')
    await isStreaming(page)
    await eventually(() => tests.monitor.requests.some(({ path }) => path === '/v1/events'), 'a request for events')
    tests.monitor.batch({ received: 1, matched: 1, rows: rowsOf(5000, 1) })
    await page.getByText('1 events since you opened this view').waitFor()
    answered.resolve()
    await page.locator('.event-row', { hasText: '/6000' }).first().waitFor()
    await page.locator('.event-row .what').nth(1).waitFor()
  })

  it('shows events although the stream does not begin, and loads them again when it has begun', async () => {
    const begun = Promise.withResolvers<void>()
    tests.monitor.waits.set('/v1/live', begun.promise)
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    const requests = () => tests.monitor.requests.filter(({ path }) => path === '/v1/events').length
    expect(requests()).to.equal(1)
    begun.resolve()
    await isStreaming(page)
    await eventually(() => requests() === 2, 'a request for the events before the stream')
  })

  it('explains how to publish events if the index is empty', async () => {
    tests.monitor.answers.events = () => ({
      items: [],
      next: null,
      complete: { ...completenessOf({ kept: 0 }), shown: 0, total: 0, isAtLeast: false },
    })
    const page = await tests.open('/')
    await page.getByText('No events yet').waitFor()
    await page.locator('main').getByText('make demo').waitFor()
  })

  it('shows a problem of the monitor, and the next step', async () => {
    tests.monitor.problems.set('/v1/events', {
      type: 'x',
      title: 'The index is not open',
      status: 503,
      detail: 'Disk is full.',
    })
    const page = await tests.open('/')
    const alert = page.getByRole('alert')
    await alert.getByText('The index is not open').waitFor()
    await alert.getByText('make logs SERVICE=event-monitor').waitFor()
    tests.monitor.problems.clear()
    await page.locator('.event-row .what').first().waitFor()
    await alert.waitFor({ state: 'detached' })
  })
})
