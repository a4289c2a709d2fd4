// `make pictures`: what a reader sees first, from a real run in a copy of the repository.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { addressAt, defaultPorts, eventually, jaegerUrl, repository, serviceNamed } from '@orderflow/stack'
import { execute, openBrowser } from '@orderflow/test/browser'
import { copyRepository } from '@orderflow/test/repository-copy'
import { record } from './recording.ts'
import { terminalSvg } from './terminal-svg.ts'

const folder = join(repository, 'docs/pictures')
const copy = copyRepository()
try {
  const recording = await record(['make up STACK=local', 'make demo'], copy.folder)
  writeFileSync(
    join(folder, 'terminal.svg'),
    terminalSvg(recording, 'A terminal: make up starts the system, make demo pays an order'),
  )
  const { url } = addressAt('localhost', serviceNamed('order-service'))
  await takePage(url)
  await copy.run('make', ['observe'])
  await takeTrace(url)
} finally {
  await copy.run('make', ['down'])
  copy.remove()
}

/** order-service's page, with an order that was placed and is looked at on it. */
async function takePage(url: string): Promise<void> {
  const browser = await openBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 960, height: 2000 } })
    await page.goto(`${url}/`)
    const placed = await execute(page, 'POST /v1/orders')
    await placed.locator('.opblock-summary-control').click()
    const arePaid = async () => !(await (await fetch(`${url}/v1/orders`)).text()).includes('"Created"')
    await eventually(arePaid, 'all orders are paid')
    const read = await execute(page, 'GET /v1/orders/{id}')
    const top = await page.locator('.opblock-tag').first().boundingBox()
    const end = await read.locator('.live-responses-table .highlight-code').first().boundingBox()
    if (!top || !end) throw new Error(`${url} shows no answer`)
    const clip = { x: 0, y: top.y, width: 960, height: end.y + end.height + 10 - top.y }
    await page.screenshot({ path: join(folder, 'page.png'), clip })
  } finally {
    await browser.close()
  }
}

/** The trace of an order that was paid. */
async function takeTrace(url: string): Promise<void> {
  const order = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }
  const headers = { 'content-type': 'application/json' }
  // The first of a process takes longer than any other.
  const traceIds: string[] = []
  for (let count = 0; count < 20; count += 1) {
    const response = await fetch(`${url}/v1/orders`, { method: 'POST', headers, body: JSON.stringify(order) })
    traceIds.push(((await response.json()) as { traceId: string }).traceId)
    await delay(250)
  }
  const traceUrl = jaegerUrl(defaultPorts)
  const hex = (traceIds.at(-1) ?? '').replaceAll('-', '')
  const isWhole = async () =>
    (await (await fetch(`${traceUrl}/api/traces/${hex}`)).text()).includes('"process paymentevents"') || undefined
  await eventually(isWhole, 'the trace')
  // The sidecars send theirs every five seconds.
  await delay(6_000)
  const browser = await openBrowser()
  try {
    const page = await browser.newPage({ viewport: { width: 1_200, height: 400 } })
    await page.goto(`${traceUrl}/trace/${hex}`)
    await page.locator('tr.span').first().waitFor()
    await page.screenshot({ path: join(folder, 'trace.png'), fullPage: true })
  } finally {
    await browser.close()
  }
}
