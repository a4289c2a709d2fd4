import { eventually } from '@orderflow/stack/base'
import { openPage } from '@orderflow/stack/browser'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { paths } from '../../src/api/index.ts'
import { violationsOf } from './support/axe.ts'
import { pageTests } from './support/page-tests.ts'

const key = `ofk_Ab3dEf9h_${'x'.repeat(43)}`
const stranger = `ofk_Gone0000_${'x'.repeat(43)}`

describe('the sign-in dialog', () => {
  const tests = pageTests()
  beforeEach(() => {
    tests.monitor.keys = { [key]: ['events:read'], ofk_orders: ['orders:read'] }
    tests.monitor.answers.me = { id: 'me', scopes: ['events:read'], recordedAs: 'me' }
  })
  const signIn = async (page: Page, typed = key) => {
    await page.getByLabel('API key or token').fill(typed)
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click()
  }

  it('explains how to get a key, and shows the view of the opened address with live data after the sign-in', async () => {
    const page = await tests.open('/?topic=orderevents')
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByText('./orderflow api-key create me').waitFor()
    await page.locator('.completeness', { hasText: 'not signed in' }).waitFor()
    expect(tests.monitor.viewers).to.equal(0)
    await signIn(page, `  Bearer ${key}\n`)
    await page.locator('.event-row .what').first().waitFor()
    await page.locator('.completeness', { hasText: '● live' }).waitFor()
    expect(new URL(page.url()).search).to.equal('?topic=orderevents')
    const streams = tests.monitor.requests.filter(({ path, headers }) => path === '/v1/live' && headers.authorization)
    expect(streams.map(({ query }) => query.getAll('view'))).to.deep.equal([['topic=orderevents']])
    tests.monitor.batch({ matched: 4 })
    await page.getByText('4 events since you opened this view').waitFor()
    await page.getByRole('button', { name: 'Sign out me' }).waitFor()
  })

  it('reports an invalid key, an unknown key, and a missing scope', async () => {
    const page = await tests.open('/dead')
    const requests = () => tests.monitor.requests.filter(({ headers }) => headers.authorization).length
    await signIn(page, 'not a key “at all”')
    await page.getByText('This is not a key or token').waitFor()
    expect(requests()).to.equal(0)
    await signIn(page, stranger)
    await page.getByText('The API key is unknown or was revoked. Ask the operator for a new one.').waitFor()
    await signIn(page, 'ofk_orders')
    await page
      .getByText('The operation needs the scope events:read. The scopes of the token or key are: orders:read.')
      .waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).to.equal(0)
    await signIn(page)
    await page.locator('main td').first().waitFor()
  })

  it('keeps the key in one tab, also after a reload, and deletes it when the user signs out', async () => {
    const page = await tests.open('/health')
    await signIn(page)
    await page.locator('.tile').first().waitFor()
    await tests.reload(page, page.locator('.tile').first())
    expect(await page.evaluate(() => document.cookie + JSON.stringify(localStorage) + location.href)).not.to.contain(
      'ofk_',
    )
    const other = await page.context().newPage()
    await openPage(other, `${tests.monitor.url}/health`, other.getByRole('dialog', { name: 'Sign in' }))
    await page.evaluate(() => sessionStorage.setItem('draft:1', '{}'))
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).to.equal(0)
    expect(await page.locator('.tile').count()).to.equal(0)
  })

  it('opens again with the reason when the key is revoked, and keeps the address', async () => {
    const page = await tests.open('/health')
    await signIn(page)
    await page.locator('.tile').first().waitFor()
    tests.monitor.keys = { [stranger]: ['events:read'] }
    // The view behind the dialog shows the same text if it asks for data before the dialog opens.
    await page
      .getByRole('dialog', { name: 'Sign in' })
      .getByText('The API key is unknown or was revoked. Ask the operator for a new one.')
      .waitFor({ timeout: 15_000 })
    await signIn(page, stranger)
    await page.locator('.completeness', { hasText: '● live' }).waitFor()
    expect(page.url()).to.equal(`${tests.monitor.url}/health`)
  })

  it('opens once, and shows a sign-in button after the user has closed it', async () => {
    const page = await tests.open('/dead')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    for (const path of [paths.me, paths.deadLetters, paths.replays, paths.live]) {
      await eventually(() => tests.monitor.requests.some((each) => each.path === path), `a request of ${path}`)
    }
    const before = tests.monitor.requests.length
    await page.waitForTimeout(4000)
    expect(tests.monitor.requests.length).to.equal(before)
    await page.getByRole('alert').getByRole('button', { name: 'Sign in' }).click()
    await signIn(page)
    await page.locator('main td').first().waitFor()
  })

  it('keeps actions disabled if their scope is missing, and names the scope', async () => {
    const page = await tests.open('/e/orderevents/1/1204')
    await signIn(page)
    await page.locator('.json-line').first().waitFor()
    await eventually(
      async () => (await page.getByTitle('This action needs the scope events:operate').count()) > 0,
      'a title with the missing scope',
    )
    expect(await page.getByRole('button', { name: 'Dry run' }).isDisabled()).to.equal(true)
  })

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 400]) {
      it(`passes the checks of axe in ${colorScheme} mode, at a width of ${width} pixels`, async () => {
        const page = await tests.open('/dead', { colorScheme, viewport: { width, height: 800 } })
        await signIn(page, stranger)
        await page.getByText('was revoked').waitFor()
        expect(await violationsOf(page)).to.deep.equal([])
      })
    }
  }
})
