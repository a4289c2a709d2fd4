import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { job } from './support/dead-sample.ts'
import { pageTests } from './support/page-tests.ts'
import { health } from './support/system-sample.ts'

describe('the system views', () => {
  const tests = pageTests()

  it('shows the number of problems of each view in the navigation', async () => {
    const page = await tests.open('/audit')
    const badges = page.locator('nav a', { has: page.locator('.badge') })
    await badges.first().waitFor()
    expect(await badges.allInnerTexts()).to.have.length(3)
    expect((await page.locator('.badge').allTextContents()).join()).to.equal('45 problems,2 problems,3 problems')
  })

  it('counts the problems again when a replay ends', async () => {
    const page = await tests.open('/audit')
    await page.locator('nav a', { hasText: '45 problems' }).waitFor()
    tests.monitor.answers.deadLetters = { ...tests.monitor.answers.deadLetters, open: 44 }
    tests.monitor.send('job', job())
    // The next regular count is 15 seconds after the first one.
    await page.locator('nav a', { hasText: '44 problems' }).waitFor({ timeout: 10_000 })
  })

  it('names the problems of services, and shows the lag of each consumer group', async () => {
    const page = await tests.open('/health')
    await page.getByText('payment-service is not-ready: orderevents is not consumed').waitFor()
    const stuck = page.locator('tr', { hasText: 'was delivered 34 times and is still not handled' })
    const link = stuck.getByRole('link', { name: 'orderevents/2/10796' })
    expect(await link.getAttribute('href')).to.equal('/e/orderevents/2/10796')
    await page.getByText('at most 3,612 events behind').click()
    expect(await page.locator('.group table').first().locator('tbody tr').count()).to.equal(3)
    await page.locator('.strip canvas').waitFor()
    const { services, ...rest } = health()
    tests.monitor.answers.health = { ...rest, services: services.slice(0, 1) }
    await page.getByText('All services are running').waitFor()
  })

  it('shows the warnings of a service that is ready', async () => {
    const { services, ...rest } = health()
    const warning = 'topic orderevents keeps events for 30 days, but has a deadline in 40 days'
    const warned = services.slice(0, 1).map((service) => ({ ...service, warnings: [warning] }))
    tests.monitor.answers.health = { ...rest, services: warned }
    const page = await tests.open('/health')
    await page.getByText(`order-service: ${warning}`).waitFor()
    await page.locator('td', { hasText: 'ready' }).getByText(warning).waitFor()
  })

  it('lists missing reactions with the likely reason and a link to the dead letter', async () => {
    const page = await tests.open('/missing')
    await page.getByText('payment-service is 1,204 events behind in orderevents/2').waitFor()
    expect(await page.getByRole('link', { name: 'edit and replay' }).getAttribute('href')).to.match(/^\/dead\//)
    const request = page.waitForRequest(/\/v1\/missing\?seconds=300&/)
    await page.getByRole('button', { name: '5 min' }).click()
    await request
    await page.waitForURL('**/missing?seconds=300')
  })

  it('lists publishers with links to their events', async () => {
    const page = await tests.open('/publishers')
    const shop = page.locator('tr', { hasText: 'shop with a name' })
    await shop.getByText('59 (100 %)').waitFor()
    await shop.getByRole('link').click()
    await page.waitForURL(/\?publisher=/)
  })

  it('lists the publishers of an old schema version, and the breaking changes of a new version', async () => {
    const page = await tests.open('/schemas')
    const old = page.getByRole('region', { name: 'OrderCreated@1' })
    await old.getByText('old, still published').waitFor()
    await old.getByText('the newest version is OrderCreated@2').waitFor()
    await page.getByText('readers of OrderCreated@1 cannot read this version').waitFor()
  })

  it('validates an event while the user types', async () => {
    const page = await tests.open('/schemas')
    await page.getByRole('button', { name: 'Validate an event' }).click()
    await page.locator('.cm-content').click()
    await page.keyboard.insertText('{"Payload": {"Total": "1"}}')
    await page.getByText('not valid').waitFor()
    await page.locator('.cm-lint-marker-error').waitFor()
    await page.getByRole('button', { name: 'As a publisher' }).click()
    const bodies = () => tests.monitor.requests.filter(({ path }) => path === '/v1/validate').map(({ body }) => body)
    await eventually(() => (bodies().at(-1) as { as?: string })?.as === 'full', 'a validation as a publisher')
    expect(bodies().at(-1)).to.deep.equal({ text: '{"Payload": {"Total": "1"}}', as: 'full' })
  })

  it('lists who viewed personal values and who replayed events', async () => {
    const page = await tests.open('/audit')
    await page.getByText('the customer asked by telephone').waitFor()
    await page.getByText('edited and replayed').waitFor()
  })

  it('uses the chosen light or dark colours, also after a reload', async () => {
    const page = await tests.open('/health', { colorScheme: 'light' })
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await ground()
    await page.getByRole('button', { name: 'Colours: system' }).click()
    await page.getByRole('button', { name: 'Colours: light' }).click()
    expect(await ground()).not.to.equal(light)
    await tests.reload(page, page.getByRole('button', { name: 'Colours: dark' }))
    expect(await ground()).not.to.equal(light)
  })

  it('shows an error page with status 404 at an unknown address', async () => {
    const page = await tests.open('/health')
    const response = await page.goto(`${tests.monitor.url}/nowhere`)
    expect(response?.status()).to.equal(404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })

  it('forbids inline scripts and connections to other hosts by its security policy', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    const blocked = await page.evaluate(async () => {
      const script = document.createElement('script')
      script.textContent = 'globalThis.ran = true'
      document.body.append(script)
      const failure = await fetch('http://127.0.0.1:1/').catch((error: Error) => error.message)
      return [(globalThis as { ran?: boolean }).ran, failure]
    })
    expect(blocked).to.deep.equal([undefined, 'Failed to fetch'])
  })
})
