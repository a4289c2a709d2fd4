import { expect } from 'chai'
import { aroundConversation, longConversation } from './support/conversation-sample.ts'
import { pageTests } from './support/page-tests.ts'
import { guid, isoAt } from './support/sample.ts'

describe('the conversation view', () => {
  const tests = pageTests()
  const path = `/c/${guid(2, 1)}`

  it('draws the steps in order, with dead letters, replays and notes about problems', async () => {
    const page = await tests.open(path)
    await page.locator('.step').first().waitFor()
    expect(await page.locator('.step').count()).to.equal(7)
    expect(await page.locator('.step.dead-letter .words-bad').textContent()).to.equal('dead letter: invalid-payload')
    expect(await page.locator('.step.replay .words').textContent()).to.equal('edited and replayed: OrderCreated@1')
    expect(await page.locator('.step').first().locator('.rejected').count()).to.equal(1)
    expect(await page.locator('.step').first().locator('circle.handled').count()).to.equal(1)
    const notes = await page.locator('.notes').allTextContents()
    expect(notes.join()).to.match(/is not in the index.*duplicate of step 4.*120 ms before its cause/)
    expect(await page.locator('.column-head').allTextContents()).to.include('outsidelegacy-shop')
    expect(await page.locator('.idle').allTextContents()).to.deep.equal([
      '⋯ 4 min without events ⋯',
      '⋯ 1 d without events ⋯',
    ])
  })

  it('draws requests and stored state in separate columns, and shows no time for them', async () => {
    tests.monitor.answers.conversation = aroundConversation()
    const page = await tests.open(path)
    await page.locator('.step.handled').waitFor()
    expect(await page.locator('.column-head').allTextContents()).to.include.members([
      'clientclient',
      'storeorder-service',
    ])
    expect(await page.locator('.column.state, .column.client').count()).to.equal(2)
    expect(await page.locator('.step .words').allTextContents()).to.deep.equal([
      'request',
      'OrderCreated@1',
      'handled: OrderCreated@1',
    ])
    expect(await page.locator('.step.request .at').allTextContents()).to.deep.equal(['1', ''])
    await page.getByText('1 of 1 record shown').waitFor()
  })

  it('opens a step in a panel next to the lifeline, by click and by keys', async () => {
    const page = await tests.open(path)
    await page.locator('.step .words').first().click()
    await page.locator('.side-panel .json-line').first().waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.side-panel').waitFor({ state: 'detached' })
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.locator('.side-panel').waitFor()
  })

  it('shows the same steps in a table, which has its own address', async () => {
    const page = await tests.open(path)
    await page.getByRole('button', { name: 'Table' }).click()
    await page.waitForURL('**?as=table')
    const rows = page.locator('tbody tr')
    expect(await rows.count()).to.equal(7)
    expect(await rows.nth(2).textContent())
      .to.contain('edited and replayed')
      .and.contain('step 2')
      .and.contain('reaction: step 4')
    expect(await rows.nth(6).textContent())
      .to.contain('order-service: unknown')
      .and.contain('+24:04:00.070')
  })

  it('draws only the visible steps of a conversation with 5,000 steps', async () => {
    tests.monitor.answers.conversation = longConversation(5000)
    const page = await tests.open(path)
    await page.locator('.step').first().waitFor()
    expect(await page.locator('.step').count()).to.be.within(5, 60)
    await page.getByText('only the oldest 5,000 of 5,012 records are shown').waitFor()
    await page.locator('.lifeline').evaluate((element) => element.scrollTo(0, element.scrollHeight / 2))
    await page
      .locator('.step text', { hasText: /^2500$/ })
      .first()
      .waitFor()
    expect(await page.locator('.step').count()).to.be.within(5, 60)
    const drawn = await page.evaluate(async () => {
      const element = document.querySelector('.lifeline')
      const times: number[] = []
      for (let part = 1; part <= 20; part += 1) {
        const before = performance.now()
        element?.scrollTo(0, (element.scrollHeight * part) / 20)
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
        times.push(performance.now() - before)
      }
      return times.toSorted((one, other) => one - other)
    })
    console.log(
      `      time to scroll to another part of 5,000 steps: median ${drawn[10]?.toFixed(0)} ms, maximum ${drawn[19]?.toFixed(0)} ms`,
    )
  })

  it('opens a conversation directly if no other conversation contains the GUID', async () => {
    tests.monitor.problems.set(`/v1/conversations/${guid(7, 4)}`, { type: 'x', title: 'None', status: 404 })
    const first = { topic: 'orderevents', partition: 1, offset: '1204' }
    const conversations = { correlationId: guid(2, 1), events: 7, from: isoAt(0), to: isoAt(1000), first }
    tests.monitor.answers.conversations.items = [conversations]
    const page = await tests.open(`/c/${guid(7, 4)}`)
    await page.waitForURL(`**/c/${guid(2, 1)}`)
    await page.locator('.step').first().waitFor()
  })

  it('reports a conversation without events', async () => {
    tests.monitor.problems.set('/v1/conversations/', { type: 'x', title: 'None', status: 404 })
    const page = await tests.open(path)
    await page.getByText('The index has no events of this conversation').waitFor()
  })
})
