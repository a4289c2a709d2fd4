import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { entry, entryDetail, job } from './support/dead-sample.ts'
import { eventDetail } from './support/event-sample.ts'
import { pageTests } from './support/page-tests.ts'
import { guid } from './support/sample.ts'

describe('the dead letters view', () => {
  const tests = pageTests()
  const path = `/dead/${guid(9, 4)}`
  const checks = () => tests.monitor.requests.filter((each) => each.path.endsWith('/check'))

  /** Removes the quotes around the total by pressing keys, as a user does. */
  async function fixTotal(page: Page): Promise<void> {
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    for (let line = 0; line < 2; line += 1) await page.keyboard.press('ArrowUp')
    await page.keyboard.press('End')
    for (let character = 0; character < 6; character += 1) await page.keyboard.press('Backspace')
    await page.keyboard.type('12.5')
  }

  it('lists groups of dead letters, and the entries of a group', async () => {
    const page = await tests.open('/dead')
    await page.locator('tr', { hasText: 'invalid-payload' }).first().getByRole('link').click()
    await page.waitForURL('**/dead?group=g1')
    await page.getByText('42 of 42 shown').waitFor()
    expect(await page.locator('input[type=checkbox]').count()).to.equal(42)
  })

  it('shows in the group, the entry and the history which services rejected a record', async () => {
    const page = await tests.open('/dead?group=g1')
    await page.getByText('42 of 42 shown').waitFor()
    const rows = page.locator('tr', { hasText: 'order-service, payment-service' })
    expect(await rows.count()).to.equal(44)
    await page.goto(new URL(path, page.url()).href)
    const story = page.locator('.story ol > li')
    await story.first().waitFor()
    expect(await story.allInnerTexts()).to.have.length(1)
    expect(await story.innerText()).to.match(
      /rejected by order-service: invalid-payload .*and payment-service: invalid-payload/,
    )
  })

  it('saves the rejected event as a fixture', async () => {
    const page = await tests.open(path)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.story').getByRole('button', { name: 'Save as fixture' }).click(),
    ])
    expect(download.suggestedFilename()).to.equal(tests.monitor.answers.fixture.fileName)
    const [saving] = tests.monitor.requests.filter((each) => each.path.endsWith('/fixture'))
    const { topic, partition, offset } = eventDetail().row.position
    expect(saving?.path).to.equal(`/v1/events/${topic}/${partition}/${offset}/fixture`)
  })

  it('works with the keyboard alone; Escape first leaves the editor, then the view', async () => {
    const page = await tests.open('/')
    await page.locator('.event-row .what').first().waitFor()
    for (const key of ['g', 'd']) await page.keyboard.press(key)
    await page.locator('tbody tr').first().waitFor()
    for (const key of ['j', 'Enter']) await page.keyboard.press(key)
    await page.getByText('42 of 42 shown').waitFor()
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
    await page.waitForURL(`**/dead/${guid(9, 5)}`)
    await page.locator('.cm-content').click()
    await page.keyboard.press('Escape')
    expect(page.url()).to.contain(guid(9, 5))
    await page.keyboard.press('Escape')
    await page.waitForURL('**/dead?group=g1')
  })

  it('shows the changes of an edit, checks the edit while the user types, and replays the edited event once', async () => {
    const page = await tests.open(path)
    await page.getByText('services would reject this event again').waitFor()
    expect(await page.getByRole('button', { name: 'Replay unchanged' }).isDisabled()).to.equal(true)
    await page.locator('.cm-lint-marker-error').waitFor()
    const before = checks().length
    await fixTotal(page)
    await page.getByText('ready: every service would accept this event').waitFor()
    expect(checks().length - before).to.be.within(1, 3)
    await page.locator('.cm-deletedChunk').waitFor()
    await page.locator('.changes', { hasText: '/Payload/Total' }).waitFor()
    await page.getByText('would publish PaymentApproved@1 to paymentevents').waitFor()
    tests.monitor.answers.replays.items = []
    tests.monitor.answers.started = job({
      id: 'job-9',
      total: 1,
      replayed: 0,
      refused: 0,
      done: 0,
      state: 'running',
      outcomes: [],
      edited: true,
    })
    await page.getByRole('button', { name: 'Replay as edited' }).click()
    await page.locator('.job', { hasText: 'running' }).first().waitFor()
    const [sent, ...others] = tests.monitor.requests.filter(
      ({ path, method }) => path === '/v1/replays' && method === 'POST',
    )
    expect(others).to.deep.equal([])
    expect(sent?.headers['idempotency-key']).to.match(/^[0-9a-f]{32}$/)
    expect(sent?.body).to.deep.include({ entries: [guid(9, 4)], attempt: entry(4).origin })
    const as = { topic: 'orderevents', partition: 1, offset: '2301' }
    const outcomes = [{ entry: guid(9, 4), result: 'replayed' as const, as, why: [] }]
    tests.monitor.send('job', job({ id: 'job-9', total: 1, replayed: 1, refused: 0, done: 0, outcomes, edited: true }))
    await page.locator('.job a[href="/e/orderevents/1/2301"]').waitFor()
    expect(await page.getByRole('button', { name: 'Replay as edited' }).isDisabled()).to.equal(true)
    // The new record is not in the index when the job ends.
    const [attempt] = entry(4).attempts
    const attempts = attempt ? [{ ...attempt, replayed: { as, at: attempt.at, edited: true } }] : []
    tests.monitor.answers.deadLetterEntry = entryDetail({ entry: entry(4, { state: 'replayed', attempts }) })
    await page.getByText('replayed, and has not failed again').waitFor()
    await page.locator('.story a[href="/e/orderevents/1/2301"]').waitFor()
    expect(await page.getByRole('button', { name: 'Replay' }).count()).to.equal(0)
    expect(await page.getByRole('link', { name: 'Open the conversation' }).getAttribute('href')).to.equal(
      `/c/${guid(2, 1)}`,
    )
  })

  it('shows each service’s own outcome, and the fields in which an edit contradicts a service', async () => {
    const publishes: never[] = []
    const check = { isReady: true, faults: [], refusals: [], changes: [] }
    const order = {
      ...{ service: 'order-service', result: 'changes' as const, publishes, conflicts: ['/Payload/Total'] },
      changes: [{ key: 'order/7d9f', before: { total: 12.5, day: 'Monday' }, after: { total: 13.5, day: 'Monday' } }],
    }
    const mail = { service: 'mail-service', result: 'unknown' as const, why: 'it does not answer' }
    const stock = { service: 'stock-service', result: 'no-effect' as const, why: 'duplicate' as const, publishes }
    const services = [order, { ...stock, conflicts: ['/Payload/Total'] }, mail]
    tests.monitor.answers.deadLetterCheck = () => ({ ...check, dryRun: { services } })
    const page = await tests.open(path)
    await page.getByText('the edit contradicts the data of 2 of 3 services').waitFor()
    const outcomes = page.getByRole('list', { name: 'Outcome in each service' }).getByRole('listitem')
    expect(await outcomes.allInnerTexts()).to.deep.equal([
      'order-service would change data that it stored for the original event',
      'stock-service would ignore this edit and keep the original event',
      'mail-service did not answer: it does not answer',
    ])
    expect(await page.getByText('every service would accept').count()).to.equal(0)
    const verdict = page.getByRole('region', { name: 'stock-service' })
    expect(await verdict.innerText()).to.match(/accepted the original event, with other values in \/Payload\/Total/)
  })

  /** Makes the answers to a path wait until the returned function is called. */
  function hold(start: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    tests.monitor.waits.set(start, promise)
    return resolve
  }

  it('shows no result of a dry run under a newer text', async () => {
    const page = await tests.open(path)
    await page.getByText('services would reject this event again').waitFor()
    const answer = hold('/v1/dry-run')
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByRole('button', { name: 'Asking the services…' }).waitFor()
    await eventually(() => tests.monitor.requests.some((each) => each.path === '/v1/dry-run'), 'a dry run')
    await page.locator('.cm-content').click()
    await page.keyboard.type(' ')
    await page.getByRole('button', { name: 'Dry run' }).waitFor()
    answer()
    await page.waitForTimeout(500)
    expect(await page.getByText('Dry run: the effects in each service').count()).to.equal(0)
  })

  it('keeps the replay button disabled during a replay, also while the user types', async () => {
    const page = await tests.open(path)
    await page.getByText('services would reject this event again').waitFor()
    await fixTotal(page)
    await page.getByText('ready: every service would accept this event').waitFor()
    const answer = hold('/v1/replays')
    await page.getByRole('button', { name: 'Replay as edited' }).click()
    const replaying = page.getByRole('button', { name: 'Replaying…' })
    await replaying.waitFor()
    const before = checks().length
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' ')
    await eventually(() => checks().length > before, 'a check of the newer text')
    await page.getByText('ready: every service would accept this event').waitFor()
    expect(await replaying.isDisabled()).to.equal(true)
    answer()
    await page.locator('.job').first().waitFor()
    expect(sent()).to.have.length(1)
  })

  it('ignores a page of the previous list that arrives late', async () => {
    const [first, ...others] = tests.monitor.answers.deadLetterEntries(new URLSearchParams()).items
    const complete = { ...tests.monitor.answers.completeness, shown: 1, total: 42, isAtLeast: false }
    tests.monitor.answers.deadLetterEntries = (query) =>
      query.get('cursor')
        ? { items: others, next: null, complete }
        : { items: first ? [first] : [], next: '1', complete }
    const page = await tests.open('/dead?group=g1')
    await page.getByText('1 of 42 shown').waitFor()
    const answer = hold('/v1/dead-letters/entries')
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('link', { name: /^Replayed/ }).click()
    answer()
    await page.getByText('1 of 42 shown').waitFor()
    await page.waitForTimeout(300)
    expect(await page.locator('[aria-label="Entries of the group"] tbody tr').count()).to.equal(1)
  })

  /** Simulates a replay by another user, after which the event failed again for another reason. Returns the new attempt. */
  function failAgain(): { topic: string; partition: number; offset: string } {
    const attempt = { topic: 'orderevents', partition: 1, offset: '2301' }
    const [first] = entry(4).attempts
    const attempts = first
      ? [
          { ...first, replayed: { as: attempt, at: first.at, edited: false } },
          { ...first, position: attempt, replayed: null },
        ]
      : []
    const { editable } = entryDetail()
    tests.monitor.answers.deadLetterEntry = entryDetail({
      entry: entry(4, { attempts }),
      attempt,
      editable: (editable ?? '').replace('"12.5"', '"13.5"'),
    })
    return attempt
  }
  const sent = () => tests.monitor.requests.filter(({ path, method }) => path === '/v1/replays' && method === 'POST')

  it('keeps an edit for its attempt, and uses the edit for a newer attempt only if the user confirms this', async () => {
    const page = await tests.open(path)
    await page.locator('.cm-line').first().waitFor()
    await fixTotal(page)
    await page.getByText('ready: every service would accept this event').waitFor()
    const attempt = failAgain()
    const warning = page.getByRole('alert').filter({ hasText: 'this event was replayed and failed again' })
    await warning.waitFor()
    expect(await warning.innerText())
      .to.contain('orderevents/1/1204')
      .and.to.contain('orderevents/1/2301')
    expect(await page.getByRole('button', { name: 'Replay as edited' }).isDisabled()).to.equal(true)
    await tests.reload(page, warning)
    expect(await page.locator('.cm-content').innerText()).to.contain('12.5')
    await page.getByRole('button', { name: 'Use my edit for the newest attempt' }).click()
    await page.getByText('ready: every service would accept this event').waitFor()
    expect(checks().at(-1)?.body).to.have.deep.property('attempt', attempt)
    await page.getByRole('button', { name: 'Replay as edited' }).click()
    await eventually(() => sent().length > 0, 'the replay request')
    expect(sent()[0]?.body).to.deep.include({ entries: [guid(9, 4)], attempt })
  })

  it('shows the newest attempt when the user discards the edit of an earlier attempt', async () => {
    const page = await tests.open(path)
    await page.locator('.cm-line').first().waitFor()
    await fixTotal(page)
    await page.getByText('This tab keeps your edit until you replay or discard it').waitFor()
    failAgain()
    await page.getByRole('button', { name: 'Discard my edit' }).click()
    await page.getByText('This is the failed event').waitFor()
    await page.locator('.cm-content', { hasText: '"13.5"' }).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).to.equal(0)
  })

  it('shows the newest attempt automatically if the user has edited nothing', async () => {
    const page = await tests.open(path)
    await page.locator('.cm-content', { hasText: '"12.5"' }).waitFor()
    failAgain()
    await page.locator('.cm-content', { hasText: '"13.5"' }).waitFor()
    await page.getByText('This is the failed event').waitFor()
    expect(await page.getByRole('alert').count()).to.equal(0)
  })

  it('shows the reason if the edit of a replayed attempt is refused', async () => {
    const page = await tests.open(path)
    await page.locator('.cm-line').first().waitFor()
    await fixTotal(page)
    await page.getByText('ready: every service would accept this event').waitFor()
    tests.monitor.problems.set('/v1/replays', {
      type: 'urn:orderflow:problem:other-attempt',
      title: 'The dead letter has a newer attempt',
      status: 409,
      detail: 'The attempt at orderevents/1/1204 was already replayed as orderevents/1/2301.',
    })
    await page.getByRole('button', { name: 'Replay as edited' }).click()
    const refusal = page.getByRole('alert').filter({ hasText: 'has a newer attempt' })
    await refusal.getByText('already replayed as orderevents/1/2301').waitFor()
    expect(await page.locator('.cm-content').innerText()).to.contain('12.5')
  })

  it('keeps an edit after a reload, with placeholders for personal values, until the user discards the edit', async () => {
    const page = await tests.open(path)
    await page.locator('.cm-line').first().waitFor()
    await fixTotal(page)
    await page.getByText('This tab keeps your edit until you replay or discard it').waitFor()
    await tests.reload(page, page.getByText('This tab keeps your edit until you replay or discard it'))
    await page.getByText('ready: every service would accept this event').waitFor()
    const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage }))
    expect(kept).to.contain('***{/Payload/CustomerName}***')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('This is the failed event').waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).to.equal(0)
  })

  it('marks the position of a JSON syntax error', async () => {
    const page = await tests.open(path)
    await page.locator('.cm-content').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Backspace')
    await page.locator('.cm-lint-marker-error').first().waitFor()
    await page.getByText('not JSON yet').waitFor()
    await page.waitForTimeout(600)
    expect(checks().filter(({ body }) => (body as { edited?: unknown }).edited)).to.deep.equal([])
  })

  it('replays a group at the chosen rate, and shows the progress after a reload', async () => {
    const running = job({
      id: 'job-2',
      state: 'running',
      group: 'g1',
      total: 42,
      replayed: 3,
      refused: 0,
      done: 0,
      outcomes: [],
      perSecond: 10,
    })
    const page = await tests.open('/dead?group=g1')
    await page.getByRole('button', { name: 'Replay all 42 open' }).click()
    await page.getByRole('spinbutton').fill('10')
    await page.getByText('takes about 4.2 s').waitFor()
    tests.monitor.answers.started = running
    await page.getByRole('dialog').getByRole('button', { name: 'Replay 42 events' }).click()
    await page.locator('.own-job', { hasText: '3 of 42' }).waitFor()
    const sent = tests.monitor.requests.find(({ path, method }) => path === '/v1/replays' && method === 'POST')
    expect(sent?.body).to.deep.equal({ group: 'g1', perSecond: 10 })
    tests.monitor.send('job', { ...running, replayed: 30 })
    await page.locator('.own-job', { hasText: '30 of 42' }).waitFor()
    tests.monitor.answers.replays = { items: [{ ...running, replayed: 31 }] }
    await tests.reload(page, page.locator('.job', { hasText: '31 of 42' }))
    tests.monitor.answers.replay = { ...running, state: 'stopped', replayed: 32 }
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.job', { hasText: 'stopped' }).waitFor()
  })

  it('replays the selected entries', async () => {
    const page = await tests.open('/dead?group=g1')
    for (const index of [0, 2]) await page.locator('input[type=checkbox]').nth(index).check()
    await page.getByRole('button', { name: 'Replay 2 selected' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Replay 2 events' }).click()
    await eventually(
      () => tests.monitor.requests.some(({ method, path }) => method === 'POST' && path === '/v1/replays'),
      'the replay request',
    )
    const sent = tests.monitor.requests.find(({ method, path }) => method === 'POST' && path === '/v1/replays')
    expect(sent?.body).to.deep.equal({ entries: [guid(9, 4), guid(9, 6)], perSecond: 50 })
  })

  it('lets users write a new text for an event that is not JSON, and reveal the original', async () => {
    const event = { ...eventDetail(), document: null, documentNote: 'It is no JSON.', masked: [] }
    tests.monitor.answers.deadLetterEntry = entryDetail({
      entry: entry(4, { reason: 'not-json' }),
      editable: null,
      event,
    })
    const page = await tests.open(path)
    await page.getByText('Write the event again').waitFor()
    await page.getByText('services would reject this event again').waitFor()
    await page.locator('.cm-content').click()
    await page.keyboard.insertText('{"Payload": {"Total": 12.5}}')
    await page.getByText('ready: every service would accept this event').waitFor()
    const edited = { text: '{"Payload": {"Total": 12.5}}' }
    expect(checks().at(-1)?.body).to.deep.equal({ attempt: entry(4).origin, edited })
    await page.getByText('Event, headers and context').click()
    await page.getByRole('button', { name: 'Reveal original' }).click()
    await page.getByRole('dialog', { name: 'Reveal personal values' }).waitFor()
  })

  it('states the reason if an event cannot be edited', async () => {
    tests.monitor.answers.deadLetterEntry = entryDetail({ editable: null, event: null })
    const page = await tests.open(path)
    await page.getByText('This event cannot be edited').waitFor()
  })

  it('explains the view if there are no dead letters', async () => {
    tests.monitor.answers.deadLetters = { ...tests.monitor.answers.deadLetters, groups: [], others: 0, open: 0 }
    const page = await tests.open('/dead')
    await page.getByText('No dead letters').waitFor()
  })
})
