// A part of `make -C tools pictures`. This file can also run alone, if a stack of processes is running.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { addressAt, eventually, repository, serviceNamed } from '@orderflow/cli'
import { openBrowser } from '@orderflow/cli/browser'
import { type Picture, takePictures } from '@orderflow/event-monitor/screenshots'

interface Options {
  orders: string
  /** Publishes an event as an outside publisher, even an invalid event. */
  publish: (event: object) => Promise<unknown>
}

/** Takes pictures of the monitor: live view, dead letters, an edited dead letter, and the payment of its order. */
export async function takeMonitor({ orders, publish }: Options): Promise<void> {
  const { url } = addressAt('localhost', serviceNamed('event-monitor'))
  const browser = await openBrowser()
  const take = (...pictures: Picture[]) =>
    takePictures({ browser, url, folder: join(repository, 'docs/pictures'), pictures })
  const placing = new AbortController()
  const placed = place(orders, placing.signal)
  try {
    await delay(40_000)
    for (const event of broken()) await publish(event)
    // Publishes an unknown version just before the picture, because newer events soon push it out of view.
    const before = async () => void (await publish(order('market', {}, { Version: 7 })))
    await take({ name: 'monitor-live', path: '/?seconds=60', schemes: ['light', 'dark'], before })
    const group = await eventually(() => totalAsText(url), 'the dead letters')
    const { items } = await ask<{ items: { id: string }[] }>(url, `dead-letters/entries?group=${group}`)
    const entry = items[0]?.id ?? ''
    const { attempt, editable, event } = await ask<DeadLetter>(url, `dead-letters/entries/${entry}`)
    const { correlationId, position } = event.row
    const corrected = editable.replace('"42.5"', '42.5')
    await take(
      { name: 'monitor-health', path: '/health' },
      { name: 'monitor-dead-letters', path: `/dead?group=${group}` },
      { name: 'monitor-event', path: `/e/${position.topic}/${position.partition}/${position.offset}` },
      { name: 'monitor-edited', path: `/dead/${entry}`, schemes: ['light', 'dark'], before: edit },
    )
    await ask(url, 'replays', { entries: [entry], attempt, edited: { text: corrected } })
    const isPaid = async () =>
      JSON.stringify(await ask(url, `conversations/${correlationId}`)).includes('PaymentApproved')
    await eventually(isPaid, 'the edited order to be paid')
    await delay(5_000)
    await take({ name: 'monitor-conversation', path: `/c/${correlationId}`, schemes: ['light', 'dark'] })
  } finally {
    placing.abort()
    await placed
    await browser.close()
  }
}

interface DeadLetter {
  attempt: object
  editable: string
  event: { row: { correlationId: string; position: { topic: string; partition: number; offset: string } } }
}

const edit: NonNullable<Picture['before']> = async (page) => {
  await page.getByText('services would reject this event again').waitFor()
  const text = await page.locator('.cm-content').innerText()
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text.replace('"42.5"', '42.5'))
  await page.getByText('would publish PaymentApproved@1 to paymentevents').waitFor()
}

async function totalAsText(url: string): Promise<string | undefined> {
  const { groups } = await ask<{ groups: { id: string; pointer: string; services: string[] }[] }>(url, 'dead-letters')
  return groups.find(({ pointer, services }) => pointer === '/Payload/Total' && services.includes('payment-service'))
    ?.id
}

async function ask<Answer>(url: string, path: string, body?: object): Promise<Answer> {
  const init = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return (await (await fetch(`${url}/v1/${path}`, init)).json()) as Answer
}

/** Returns orders with typical errors: a total as text, and a missing name. */
const broken = () => [
  ...Array.from({ length: 3 }, () => order('web-shop', { Total: '42.5' })),
  order('old-till', { CustomerName: undefined }),
]

function order(AppName: string, payload: object, more: object = {}): object {
  return {
    ...{ AppId: appIds[AppName], AppName, Version: 1, Name: 'OrderCreated', CreationDate: new Date().toISOString() },
    Payload: { OrderId: crypto.randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'GB-1', Total: 42.5, ...payload },
    ...more,
  }
}

const appIds: Record<string, string> = {
  'web-shop': 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
  market: '6f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6',
  'old-till': '0b5c3d6e-8f1a-4b2c-9d3e-4f5a6b7c8d9e',
}

/** Places several orders per second. One in ten is too large to be paid. */
async function place(orders: string, signal: AbortSignal): Promise<void> {
  for (let count = 1; !signal.aborted; count += 1) {
    const order = {
      customerName: 'Ada Lovelace',
      customerTaxId: 'GB-123456789',
      total: count % 10 === 0 ? 50_000 : 42.5,
    }
    const headers = { 'content-type': 'application/json' }
    await fetch(`${orders}/v1/orders`, { method: 'POST', headers, body: JSON.stringify(order) })
    await delay(100 + 400 * Math.abs(Math.sin(count / 12)))
  }
}

if (import.meta.main) {
  const file = join(mkdtempSync(join(tmpdir(), 'pictures-')), 'event.json')
  await takeMonitor({
    orders: addressAt('localhost', serviceNamed('order-service')).url,
    async publish(event) {
      writeFileSync(file, JSON.stringify(event))
      execFileSync('./orderflow', ['publish', file, '--raw'], { cwd: repository })
    },
  })
}
