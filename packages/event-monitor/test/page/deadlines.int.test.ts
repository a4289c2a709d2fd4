import { expect } from 'chai'
import { timedConversation } from './support/conversation-sample.ts'
import { deadlines, waiting } from './support/deadline-sample.ts'
import { pageTests } from './support/page-tests.ts'
import { guid, isoAt } from './support/sample.ts'

describe('the view of deadlines', () => {
  const tests = pageTests()
  const rowOf = (page: Awaited<ReturnType<typeof tests.open>>, id: string) =>
    page.locator('tr', { has: page.locator(`a[href="/c/${id}"]`), hasText: 'order ' }).first()

  it('shows the numbers by type and age, and a service that does not answer', async () => {
    const page = await tests.open('/')
    await page.getByRole('link', { name: 'Deadlines' }).click()
    await page.waitForURL('**/deadlines')
    const row = page.locator('tr', { hasText: 'order PaymentDue' }).first()
    expect(await row.locator('td').allInnerTexts()).to.deep.equal(['order PaymentDue', '! 2', '12,345', '0', '7'])
    await page.getByText('The numbers are upper bounds').waitFor()
    await page.getByText('2 passed deadlines unhandled').waitFor()
    await page.getByText('The deadlines of stock-service are unknown: it does not answer').waitFor()
    const current = page.locator('nav a[aria-current=page]')
    expect(await current.allInnerTexts()).to.deep.equal(['Deadlines'])
  })

  it('shows why a deadline is overdue, and that no deadline passes', async () => {
    const page = await tests.open('/deadlines')
    const overdue = rowOf(page, guid(5, 2))
    await overdue.getByText('overdue by 30 s').waitFor()
    await overdue.getByText('its replica has ended').waitFor()
    await rowOf(page, guid(5, 3)).getByText('waits for its time').waitFor()
    await rowOf(page, guid(5, 3)).getByText('in 10 min').waitFor()
    const [list] = deadlines().services
    tests.monitor.answers.deadlines.services = [{ ...list, hold: 'clock' } as never]
    await tests.reload(page, page.getByText('No deadline passes now: the time of the log is unknown'))
  })

  it('links an undecided deadline to its dead letter and its conversation', async () => {
    const page = await tests.open('/deadlines')
    const section = page.getByRole('region', { name: 'Undecided deadlines' })
    await section.getByText('handler-error').waitFor()
    expect(await section.getByRole('link', { name: 'edit and replay' }).getAttribute('href')).to.equal(
      `/dead/${guid(9, 4)}`,
    )
    expect(await section.locator('.id').getAttribute('href')).to.equal(`/c/${guid(2, 1)}`)
  })

  it('fires a deadline after a confirmation', async () => {
    const page = await tests.open('/deadlines')
    const button = page.getByRole('button', { name: `Fire now… Reminder of order ${guid(5, 3)}` })
    await button.click()
    await page.getByText('You cannot undo this').waitFor()
    await page.keyboard.press('Escape')
    const sent = () => tests.monitor.requests.filter(({ path }) => path === '/v1/deadlines/fire')
    expect(sent()).to.deep.equal([])
    await button.click()
    await page.getByRole('button', { name: 'Fire Reminder', exact: true }).click()
    await rowOf(page, guid(5, 3)).getByText('✓ passed').waitFor()
    expect(sent().map(({ body }) => body)).to.deep.equal([
      {
        ...{ service: 'order-service', entity: 'order', id: guid(5, 3), deadline: 'Reminder' },
        due: isoAt(600_000),
      },
    ])
  })

  it('shows the refusal of a service in the dialog', async () => {
    const detail = 'order-service refuses: it answers 409: The deadline Reminder has passed.'
    const title = 'The deadline cannot pass now'
    tests.monitor.problems.set('/v1/deadlines/fire', { type: 'x', title, status: 409, detail })
    const page = await tests.open('/deadlines')
    await page.getByRole('button', { name: `Fire now… Reminder of order ${guid(5, 3)}` }).click()
    await page.getByRole('button', { name: 'Fire Reminder', exact: true }).click()
    await page.getByRole('dialog').getByText(detail).waitFor()
  })

  it('disables the button with the reason', async () => {
    const page = await tests.open('/deadlines')
    const buttons = page.getByRole('button', { name: /^Fire now/ })
    await buttons.first().waitFor()
    const titles = () =>
      buttons.evaluateAll((all) => (all as HTMLButtonElement[]).map(({ disabled, title }) => disabled && title))
    expect(await titles()).to.deep.equal([
      'It has passed. Replay its dead letter if its decision failed',
      false,
      false,
      'Its id is masked. Use the page of the service',
    ])
    tests.monitor.answers.me = { scopes: ['events:read', 'deadlines:read'], recordedAs: 'me' }
    await tests.reload(page, buttons.first())
    await page.getByTitle('This action needs the scope deadlines:operate').first().waitFor()
    expect(await titles()).to.deep.equal(Array(4).fill('This action needs the scope deadlines:operate'))
  })
})

describe('a conversation with deadlines', () => {
  const tests = pageTests()
  const path = `/c/${guid(2, 1)}`
  const list = 'ul[aria-label="Open deadlines"]'

  it('shows the time for which an entity waits', async () => {
    const due = new Date(Date.now() + 60_000)
    due.setSeconds(0, 0)
    due.setMinutes(due.getMinutes() + 1)
    const [hours, minutes] = [due.getHours(), due.getMinutes()].map((part) => String(part).padStart(2, '0'))
    const day = due.toLocaleString('sv').slice(0, 10)
    const isToday = day === new Date().toLocaleString('sv').slice(0, 10)
    tests.monitor.answers.conversationDeadlines.items = [
      waiting('PaymentDue', due.toISOString()),
      waiting('Reminder', '2020-01-01T10:00:00Z', true),
      waiting('Retry', '2020-01-01T10:00:00Z'),
    ]
    const page = await tests.open(path)
    await page.locator(list).waitFor()
    const texts = await page.locator(`${list} li`).allInnerTexts()
    const time = `${isToday ? '' : `${day} `}${hours}:${minutes}`
    expect(texts[0]).to.equal(`order ${guid(5, 1).slice(0, 8)} waits for PaymentDue until ${time}`)
    expect(texts[1]).to.match(/Reminder has passed, and is not decided$/)
    expect(texts[2]).to.match(/Retry is overdue since 2020-01-01/)
  })

  it('appears although a service does not answer, and reports this', async () => {
    tests.monitor.answers.conversationDeadlines.problems = [{ service: 'order-service', problem: 'it does not answer' }]
    const page = await tests.open(path)
    await page.getByText('The deadlines of order-service are unknown: it does not answer.').waitFor()
    await page.locator('.step').first().waitFor()
  })

  it('appears before the services have answered', async () => {
    tests.monitor.waits.set(`/v1/conversations/${guid(2, 1)}/deadlines`, new Promise(() => {}))
    const page = await tests.open(path)
    await page.locator('.step').first().waitFor()
  })

  it('asks for deadlines only if the user has their scope', async () => {
    tests.monitor.answers.me = { scopes: ['events:read'], recordedAs: 'me' }
    const page = await tests.open(path)
    await page.locator('.step').first().waitFor()
    await page.locator('.badge').first().waitFor()
    expect(tests.monitor.requests.filter(({ path }) => path.endsWith('/deadlines'))).to.deep.equal([])
  })

  it('draws a deadline as caused by time, and one that an operator fires as a request', async () => {
    tests.monitor.answers.conversation = timedConversation()
    const page = await tests.open(path)
    await page.locator('.step.time').waitFor()
    expect(await page.locator('.column-head').allTextContents()).to.include.members(['clientclient', 'timetime'])
    expect(await page.locator('.step .words').allTextContents()).to.deep.equal([
      'request',
      'OrderCreated@1',
      'deadline: Reminder',
      'DeadlinePassed@1',
      'request: fire PaymentDue now',
      'DeadlinePassed@1',
    ])
    expect(await page.locator('.step.time .at').allTextContents()).to.deep.equal(['3', ''])
    await page.getByText('3 of 3 records shown').waitFor()
  })
})
