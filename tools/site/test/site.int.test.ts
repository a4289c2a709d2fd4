import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { violationsOf } from '@orderflow/event-monitor/axe'
import { repository } from '@orderflow/stack/base'
import { openBrowser, watchErrors } from '@orderflow/stack/browser'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { siteFolder } from '../build.ts'
import { serve } from '../serve.ts'
import { brokenLinks, htmlFiles } from './support/links.ts'

describe('the documentation site', function () {
  this.timeout(0)
  let server: Server
  let browser: Browser
  let url: string
  const strangers: string[] = []

  before(async () => {
    execFileSync(process.execPath, ['tools/site/main.ts'], { cwd: repository })
    server = await serve(siteFolder, 0)
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    server?.close()
  })

  /** Opens a page in a new tab, and waits until its scripts have run. Records requests to other hosts. */
  async function open(path: string, width = 1280): Promise<{ page: Page; errors: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 800 } })
    const errors = watchErrors(page)
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) strangers.push(request.url())
    })
    await page.goto(`${url}/${path}`, { waitUntil: 'networkidle' })
    return { page, errors }
  }

  it('links only to existing pages and headings', () => {
    expect(htmlFiles(siteFolder)).to.have.length.above(100)
    expect(brokenLinks(siteFolder)).to.deep.equal([])
  })

  it('lists every page of the navigation in llms.txt', () => {
    const listed = readFileSync(join(siteFolder, 'llms.txt'), 'utf8').match(/^- \[.+?\]\(\/\S+\)/gm) ?? []
    // The start page and the page for unknown addresses are the only pages that the list leaves out.
    expect(listed).to.have.length(htmlFiles(siteFolder).length - 2)
  })

  it('shows every page without overflow, errors and violations of axe, in both colour schemes', async () => {
    const paths = htmlFiles(siteFolder)
    const problems: string[] = []
    for (const path of paths) {
      const { page, errors } = await open(path)
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 800 })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          const found = await violationsOf(page)
          problems.push(...found.map((problem) => `${path}, ${width} pixels, ${colorScheme}: ${problem}`))
        }
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        if (overflow > 0) problems.push(`${path} is ${overflow} pixels wider than a window of ${width} pixels`)
      }
      problems.push(...errors.map((error) => `${path}: ${error}`))
      await page.close()
    }
    expect(problems).to.deep.equal([])
  })

  it('finds a page by a keyword, with the keyboard only', async () => {
    const { page } = await open('index.html')
    await page.keyboard.press('Control+k')
    await page.locator('.VPLocalSearchBox input').waitFor()
    await page.keyboard.type('dead letters')
    await page.locator('.VPLocalSearchBox .result').first().waitFor()
    expect(await violationsOf(page)).to.deep.equal([])
    await page.keyboard.press('Enter')
    await page.waitForURL(/operations\.html#dead-letters$/)
    await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor()
    await page.close()
  })

  it('lets the keyboard skip the navigation, and open its groups', async () => {
    const { page } = await open('docs/how-it-works.html')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).to.equal('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.locator('#VPContent :focus').count()).to.equal(1)
    const examples = page.locator('.VPSidebarItem', { hasText: 'Examples' }).last()
    await examples.getByRole('button', { name: 'toggle section' }).press('Enter')
    await page.getByRole('link', { name: 'In Python' }).waitFor()
    await page.close()
  })

  it('plays the film of the first tutorial', async () => {
    const { page } = await open('docs/first-order.html')
    const seconds = await page.evaluate<number>(
      'const film = document.querySelector("video"); film.muted = true; film.play().then(() => film.duration)',
    )
    expect(seconds).to.be.above(30)
    await page.close()
  })

  it('shows the README at its root, and a page for unknown addresses', async () => {
    const { page } = await open('')
    await page.getByRole('heading', { name: 'orderflow', level: 1 }).waitFor()
    const response = await page.goto(`${url}/nowhere.html`)
    expect(response?.status()).to.equal(404)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await page.close()
  })

  it('requests nothing from other hosts', () => {
    expect(strangers).to.deep.equal([])
  })
})
