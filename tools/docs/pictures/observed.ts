import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { defaultPorts } from '@orderflow/stack'
import { eventually, repository } from '@orderflow/stack/base'
import { openBrowser } from '@orderflow/stack/browser'
import { jaegerUrl } from '@orderflow/stack/internals'

const folder = join(repository, 'docs/pictures')
const viewport = { width: 1100, height: 1400 }
/** The timeout for a page to show its data, in milliseconds. */
const timeout = 20_000

/** An event that services cannot handle, because its total is text (docs/observability.md). */
export const unpayable = {
  AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
  AppName: 'shop',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-22T10:00:00Z',
  Payload: {
    OrderId: '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11',
    CustomerName: 'Ada',
    CustomerTaxId: 'GB-1',
    Total: '12.5',
  },
}

/**
 * Takes a picture of a paid order’s trace.
 * @param url the URL of order-service
 */
export async function takeTrace(url: string): Promise<void> {
  const order = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }
  const headers = { 'content-type': 'application/json' }
  // The first order of a process takes longest, so the picture shows a later order.
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
  // The sidecars send their spans every five seconds.
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

/** Waits until Prometheus has scraped every process, because an alert compares later values with the first ones. */
export async function untilScraped(prometheus: string): Promise<void> {
  await eventually(async () => {
    const { activeTargets } = await ask<{ activeTargets: { health: string }[] }>(prometheus, 'targets')
    return activeTargets.length > 0 && activeTargets.every(({ health }) => health === 'up')
  }, 'everything to be scraped')
}

/** Takes pictures of the firing alert and its graph. */
export async function takeAlert(prometheus: string): Promise<void> {
  const browser = await openBrowser()
  try {
    await eventually(() => fires(prometheus), 'an alert of each service')
    const page = await browser.newPage({ viewport })
    await page.goto(`${prometheus}/alerts`)
    await page.getByText('DeadLetters', { exact: true }).click()
    await page.getByText('invalid-payload').first().waitFor({ timeout })
    const rule = page.locator('.mantine-Accordion-item', { hasText: 'DeadLetters' }).last()
    await rule.screenshot({ path: join(folder, 'alerts.png') })

    const graph = new URL(`${prometheus}/query`)
    const expression = 'sum by (service, reason) (orderflow_dead_letters_total) > 0'
    for (const [name, value] of Object.entries({ expr: expression, tab: 'graph', range_input: '2m' })) {
      graph.searchParams.set(`g0.${name}`, value)
    }
    await page.goto(graph.href)
    await page.locator('.uplot canvas').waitFor({ timeout })
    await page.getByText('invalid-payload').first().waitFor({ timeout })
    const end = await page.getByText('invalid-payload').last().boundingBox()
    const clip = { x: 0, y: 60, width: viewport.width, height: (end?.y ?? viewport.height) - 30 }
    await page.screenshot({ path: join(folder, 'query.png'), clip })
  } finally {
    await browser.close()
  }
}

async function fires(prometheus: string): Promise<boolean> {
  const { alerts } = await ask<{ alerts: { state: string }[] }>(prometheus, 'alerts')
  return alerts.filter(({ state }) => state === 'firing').length === 2
}

async function ask<Data>(prometheus: string, what: string): Promise<Data> {
  const answer = (await (await fetch(`${prometheus}/api/v1/${what}`)).json()) as { data: Data }
  return answer.data
}
