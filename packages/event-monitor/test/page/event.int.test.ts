import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { eventDetail } from './support/event-sample.ts'
import { pageTests } from './support/page-tests.ts'
import { guid, noteRow, rowOf } from './support/sample.ts'

describe('the view of an event', () => {
  const tests = pageTests()
  const path = '/e/orderevents/1/1204'

  it('shows each fault with a hint below its line, and marks masked values', async () => {
    const page = await tests.open(path)
    const wrong = page.locator('.json-line.is-wrong', { hasText: 'Total' })
    await wrong.waitFor()
    expect(await page.locator('.json-line.is-wrong:has-text("Total") + .fault-line').textContent()).to.contain(
      'write it without quotes',
    )
    expect(await page.locator('.masked').count()).to.equal(2)
    expect(await page.locator('.json').textContent()).not.to.contain('***')
  })

  it('links to the cause, effects, dead letters, conversation, neighbours and trace of the event', async () => {
    const page = await tests.open(path)
    await page.locator('.json-line').first().waitFor()
    for (const href of ['/e/orderevents/0/1003', '/e/orderevents/1/1203', '/e/orderevents/1/1205']) {
      expect(await page.locator(`a[href="${href}"]`).count(), href).to.be.at.least(1)
    }
    expect(await page.locator('a[href^="/c/"]').count()).to.equal(1)
    expect(await page.getByRole('link', { name: 'edit and replay' }).getAttribute('href')).to.equal(
      `/dead/${guid(9, 4)}`,
    )
    expect(await page.locator('a[target=_blank]').getAttribute('href')).to.equal(
      'http://localhost:16686/trace/00000002',
    )
    await page.keyboard.press('j')
    await page.waitForURL('**/e/orderevents/1/1205')
  })

  it('links the note of a replay to the conversation of the event, and shows no ids of the note', async () => {
    const event = rowOf(4)
    tests.monitor.answers.event = eventDetail({ row: noteRow(5000), cause: event, document: null, effects: [] })
    const page = await tests.open(path)
    await page.getByText('Refers to').waitFor()
    const addresses = await page.locator('.facts a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    const { topic, partition, offset } = event.position
    expect(addresses).to.deep.equal([`/c/${event.correlationId}`, `/e/${topic}/${partition}/${offset}`])
    await page.keyboard.press('c')
    await page.waitForURL(`**/c/${event.correlationId}`)
  })

  it('shows the effects of a dry run in each service, with the data before and after the event', async () => {
    const page = await tests.open(path)
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText('would reject this event: invalid-payload').waitFor()
    await page.getByText('would accept this event').waitFor()
    expect(await page.locator('.before-after pre').allTextContents()).to.deep.equal([
      JSON.stringify({ status: 'Created', customerName: '***' }, null, 2),
    ])
    expect(tests.monitor.requests.find(({ method }) => method === 'POST')?.body).to.deep.equal({
      position: eventDetail().row.position,
    })
  })

  it('saves the event as a fixture, and names the folder for the file', async () => {
    const page = await tests.open(path)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as fixture' }).click(),
    ])
    const { fileName, content } = tests.monitor.answers.fixture
    expect(download.suggestedFilename()).to.equal(fileName)
    expect(JSON.parse(await readFile(await download.path(), 'utf8'))).to.deep.equal(content)
    const hint = `Move ${fileName} to payment-service/test/fixtures/. The tests of the service then run it.`
    await page.getByText(hint).waitFor()
  })

  it('reports the missing scope if only the original bytes could become a fixture', async () => {
    const detail = 'So this fixture needs the scope events:reveal.'
    tests.monitor.problems.set('/v1/events/orderevents/1/1204/fixture', {
      type: 'x',
      title: 'Not allowed',
      status: 403,
      detail,
    })
    const page = await tests.open(path)
    await page.getByRole('button', { name: 'Save as fixture' }).click()
    await page.getByText(detail).waitFor()
  })

  it('asks for a reason before it shows personal values, and never stores these values', async () => {
    const page = await tests.open(path)
    await page.getByRole('button', { name: 'Reveal 2 masked' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('anybody on this machine').waitFor()
    expect(await dialog.getByRole('button', { name: 'Record and show' }).isDisabled()).to.equal(true)
    await dialog.getByRole('textbox').fill('the customer asked')
    await dialog.getByRole('button', { name: 'Record and show' }).click()
    await page.locator('.revealed').getByText('GB-123456789').waitFor()
    expect(tests.monitor.requests.find(({ path }) => path.endsWith('/reveal'))?.body).to.deep.equal({
      reason: 'the customer asked',
    })
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href]),
    )
    expect(kept).not.to.contain('GB-123456789')
    await page.getByRole('button', { name: 'Hide' }).click()
    expect(await page.locator('body').textContent()).not.to.contain('GB-123456789')
  })

  it('disables actions that the user is not allowed to do, and names the missing scope', async () => {
    tests.monitor.answers.me = { id: 'ada', scopes: ['events:read'], recordedAs: 'ada' }
    const page = await tests.open(path)
    const reveal = page.getByRole('button', { name: 'Reveal 2 masked' })
    await reveal.waitFor()
    expect([await reveal.isDisabled(), await reveal.getAttribute('title')]).to.deep.equal([
      true,
      'This action needs the scope events:reveal',
    ])
    expect(await page.getByRole('button', { name: 'Dry run' }).isDisabled()).to.equal(true)
  })

  it('opens a record directly if no other record has the Id', async () => {
    tests.monitor.answers.id.positions.splice(1)
    const page = await tests.open('/id/00000001-0000-4000-8000-000000000004')
    await page.waitForURL('**/e/orderevents/1/1204')
  })

  it('reports a missing record and the next step', async () => {
    tests.monitor.problems.set('/v1/events/', { type: 'x', title: 'No such record is kept', status: 404 })
    const page = await tests.open('/e/orderevents/1/99999')
    await page.getByRole('alert').getByText('Use the search above').waitFor()
  })
})
