// A part of `make -C tools pictures`. This file can also run alone, if a stack of processes is running.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { DeadLetterEntry } from '@orderflow/event-monitor/api'
import { type Picture, takePictures } from '@orderflow/event-monitor/screenshots'
import { addressAt, serviceNamed } from '@orderflow/stack'
import { eventually, repository } from '@orderflow/stack/base'
import { openBrowser } from '@orderflow/stack/browser'

interface Options {
  orders: string
  /** Publishes an event as an outside publisher, even an invalid event. */
  publish: (event: object) => Promise<unknown>
}

/** Takes pictures of the monitor’s views: live, health, dead letters, and an event. */
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
    const { items } = await ask<{ items: DeadLetterEntry[] }>(url, `dead-letters/entries?group=${group}`)
    const [attempt] = items[0]?.attempts ?? []
    if (!attempt) throw new Error('the dead letters have no entry')
    const { topic, partition, offset } = attempt.position
    await take(
      { name: 'monitor-health', path: '/health' },
      { name: 'monitor-dead-letters', path: `/dead?group=${group}` },
      { name: 'monitor-event', path: `/e/${topic}/${partition}/${offset}` },
    )
  } finally {
    placing.abort()
    await placed
    await browser.close()
  }
}

async function totalAsText(url: string): Promise<string | undefined> {
  const { groups } = await ask<{ groups: { id: string; pointer: string; services: string[] }[] }>(url, 'dead-letters')
  return groups.find(({ pointer, services }) => pointer === '/Payload/Total' && services.includes('payment-service'))
    ?.id
}

async function ask<Answer>(url: string, path: string): Promise<Answer> {
  return (await (await fetch(`${url}/v1/${path}`)).json()) as Answer
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
