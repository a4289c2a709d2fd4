import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { type AsyncApiDocument, asyncApiPage } from '@orderflow/envelope-schema'
import { repository } from '@orderflow/stack/base'
import { openBrowser, openPage } from '@orderflow/stack/browser'
import { freePort } from '@orderflow/stack/internals'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'

const document = JSON.parse(readFileSync(join(repository, 'envelope-schema/asyncapi.json'), 'utf8')) as AsyncApiDocument

describe('the page of the AsyncAPI document', () => {
  let server: Server
  let browser: Browser
  let page: Page
  let url: string
  const asked: string[] = []
  const complaints: string[] = []
  before(async () => {
    const port = await freePort()
    url = `http://localhost:${port}/`
    server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(asyncApiPage(document)))
    await new Promise<void>((listening) => server.listen(port, 'localhost', listening))
    browser = await openBrowser()
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    page = await context.newPage()
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
  })
  after(async () => {
    await browser?.close()
    server?.close()
  })

  const anchor = 'orderevents-OrderCreated.1.full'
  const message = () => page.locator(`[id="${anchor}"]`)

  it('opens the message that the URL’s fragment names, and loads no other file', async () => {
    await openPage(page, `${url}#${anchor}`, message().getByText('Payload.CustomerTaxId'))
    expect(await page.locator('details[open]').count()).to.equal(1)
    // Chromium requests an icon automatically.
    expect(new Set(asked.filter((each) => !each.endsWith('/favicon.ico')))).to.deep.equal(new Set([url]))
  })

  it('copies an example by mouse or keyboard, and confirms the copy', async () => {
    await message()
      .getByRole('button', { name: /^Copy the example/ })
      .focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Copied').waitFor()
    const copied = JSON.parse(await page.evaluate('navigator.clipboard.readText()'))
    expect(copied).to.deep.equal(document.components.messages['OrderCreated.1.full']?.examples?.[0]?.payload)
  })

  it('supports light and dark colours', async () => {
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    await page.emulateMedia({ colorScheme: 'light' })
    const light = await background()
    await page.emulateMedia({ colorScheme: 'dark' })
    expect([light, await background()]).to.deep.equal(['rgb(255, 255, 255)', 'rgb(18, 22, 27)'])
  })

  it('conforms to its own content security policy', () => {
    expect(complaints.filter((text) => !text.includes('favicon'))).to.deep.equal([])
  })
})
