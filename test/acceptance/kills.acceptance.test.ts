import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually, send } from './support/http.ts'
import { kill, requireStack, succeed } from './support/make.ts'
import { full, isPaid, newOrder, paymentsOf, place } from './support/orders.ts'
import { openPublisher, type Publisher } from './support/publisher.ts'
import { parts, paths, targets, urls } from './system.ts'

describe('a stack whose parts are killed', () => {
  let publisher: Publisher
  before(async () => {
    await requireStack()
    publisher = await openPublisher()
  })
  after(() => publisher?.close())

  it(`loses no accepted order and pays none twice (${parts.join(', ')}, each by SIGKILL)`, async () => {
    /** Orders that somebody was told are accepted: by 201, 202 or the broker's acknowledgement. */
    const ledger = new Set<string>()
    let isOver = false
    const untilOver = async (once: () => Promise<void>) => {
      while (!isOver) {
        await once().catch(() => delay(200))
        await delay(25)
      }
    }
    const load = [
      ...Array.from({ length: 3 }, () => {
        let key = randomUUID()
        return untilOver(async () => {
          const { status, body } = await place(newOrder(), key)
          if (status >= 300) return void (await delay(200))
          ledger.add(body.id)
          key = randomUUID()
        })
      }),
      untilOver(async () => {
        const envelope = full()
        await publisher.publish({ key: envelope.Payload.OrderId, value: JSON.stringify(envelope) })
        ledger.add(envelope.Payload.OrderId)
      }),
    ]
    for (const part of parts) {
      await delay(1_500)
      await kill(part)
      await delay(500)
      await succeed(targets.up)
    }
    await delay(1_500)
    isOver = true
    await Promise.all(load)
    expect(ledger.size).to.be.above(50)
    const twice: string[] = []
    for (const id of ledger) {
      await isPaid(id, 60_000)
      if ((await paymentsOf(id)).length !== 1) twice.push(id)
    }
    expect(twice, 'orders that do not have one payment').to.deep.equal([])
    console.log(`      ${ledger.size} accepted, ${ledger.size} paid once, 0 lost`)
    for (const url of [urls.orders, urls.payments]) {
      await eventually(`${url} to be ready`, async () =>
        (await send(url + paths.ready)).status === 200 ? true : undefined,
      )
    }
  })
})
