import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { anOrder, orderUrl, paymentUrl, post, send } from '@orderflow/chaos/clients/api'
import type { FullEvent } from '@orderflow/envelope-schema'
import type { Order } from '@orderflow/order-service/order'
import type { Payment } from '@orderflow/payment-service/payment'
import { freePorts, type LocalStack, startStack } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { openLog } from '@orderflow/test-kit'
import type { Switches } from '@orderflow/test-kit/provider'
import { expect } from 'chai'

interface LedgerEntry {
  orderId: string
  authorised: number
  captured: number
  cancelled: number
  refunded: number
}

const program = new URL('../../packages/test-kit/src/provider/main.ts', import.meta.url).pathname

describe('payment-service with a payment provider', () => {
  const folder = testFolder('provider')
  let stack: LocalStack
  let log: Awaited<ReturnType<typeof openLog>>
  let provider: ChildProcess
  let url: string
  let settings: Record<string, string>

  /** Starts the simulated provider as a process, which continues its ledger. */
  async function startProvider(port = 0): Promise<void> {
    const env = {
      ...process.env,
      PROVIDER_PORT: String(port),
      PROVIDER_SECRET: 's3cret',
      PROVIDER_FILE: join(folder, 'provider.jsonl'),
    }
    provider = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const line = await Promise.race([
      once(createInterface(provider.stdout as NodeJS.ReadableStream), 'line'),
      once(provider, 'exit').then(() => Promise.reject(new Error('the provider did not start'))),
    ])
    url = String(line).split(' ').at(-1) as string
  }
  const killProvider = async () => {
    const ended = once(provider, 'exit')
    provider.kill('SIGKILL')
    await ended
  }
  const set = (changes: Partial<Switches>) =>
    fetch(`${url}/switches`, { method: 'PUT', body: JSON.stringify(changes) }).then(({ ok }) =>
      expect(ok).to.equal(true),
    )
  const ledger = async () => (await send<Record<string, LedgerEntry>>(`${url}/ledger`)).body

  before(async () => {
    mkdirSync(folder, { recursive: true })
    await startProvider()
    settings = {
      Payments__DecidedBy: 'provider',
      Provider__Address: url,
      Provider__Secret: 's3cret',
      Provider__AllowedAddresses: '127.0.0.0/8',
      Provider__TimeoutSeconds: '2',
    }
    Object.assign(process.env, settings)
    stack = await startStack({ folder, ports: await freePorts(), detached: false })
    log = await openLog(stack.kafka, ['orderevents', 'paymentevents', 'calls'])
  })
  after(async () => {
    for (const name of Object.keys(settings ?? {})) delete process.env[name]
    await log?.close()
    await stack?.stop()
    provider?.kill()
  })

  const place = async () => (await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)).body
  const cancel = ({ id }: Order) => post(`${orderUrl(stack)}/v1/orders/${id}/cancel`, undefined)
  const read = async ({ id }: Order) => (await send<Order>(`${orderUrl(stack)}/v1/orders/${id}`)).body
  const payments = async ({ id }: Order) =>
    (await send<{ items: Payment[] }>(`${paymentUrl(stack)}/v1/payments?orderId=${id}`)).body.items
  const becomes = (order: Order, ...statuses: Order['status'][]) =>
    eventually(async () => statuses.includes((await read(order)).status) || undefined, `the order is ${statuses}`)
  const namesOf = ({ id }: Order) => {
    const events = log.records
      .filter(({ topic }) => topic !== 'calls')
      .map(({ value }) => JSON.parse(value.toString()) as FullEvent & { Payload: { OrderId?: string } })
      .filter(({ Payload }) => Payload.OrderId === id)
    return [...new Map(events.map(({ Id, Name }) => [Id, Name])).values()]
  }
  /** Returns what the provider did for an order. */
  const effectsOf = async ({ id }: Order) => {
    const found = Object.values(await ledger()).find(({ orderId }) => orderId === id)
    return { captured: found?.captured ?? 0, refunded: found?.refunded ?? 0, authorised: found?.authorised ?? 0 }
  }

  it('pays orders, and shows a payment as pending until the provider has decided', async () => {
    await set({ isDown: true })
    const order = await place()
    await eventually(async () => (await payments(order))[0]?.status === 'Pending' || undefined, 'a pending payment')
    expect(await read(order)).to.include({ status: 'Created' })
    await set({ isDown: false })
    await becomes(order, 'Paid')
    await becomes(await place(), 'Paid')
    await log.caughtUp()
    expect(namesOf(order)).to.deep.equal(['OrderCreated', 'PaymentPending', 'PaymentAuthorised', 'PaymentApproved'])
    expect(await effectsOf(order)).to.deep.equal({ authorised: 1, captured: 1, refunded: 0 })
  })

  it('charges and refunds each order once, although answers are lost and all processes are killed', async () => {
    await set({ lostAnswers: 0.3, slowMs: 200 })
    const orders: Order[] = []
    for (let turn = 0; turn < 3; turn += 1) {
      orders.push(...(await Promise.all(Array.from({ length: 15 }, place))))
      await delay(300)
      if (turn === 0) {
        await stack.kill('payment-service')
        await stack.restart('payment-service')
      } else if (turn === 1) {
        const port = Number(new URL(url).port)
        await killProvider()
        await startProvider(port)
        await set({ lostAnswers: 0.3, slowMs: 200 })
      } else {
        await stack.kill('payment-sidecar')
        await stack.restart('payment-sidecar')
      }
    }
    const gone = orders.filter((_, index) => index % 3 === 0)
    await Promise.all(gone.map(cancel))
    await set({ lostAnswers: 0, slowMs: 0 })
    for (const order of orders) {
      if (gone.includes(order)) await becomes(order, 'Refunded', 'Cancelled')
      else await becomes(order, 'Paid')
    }
    const effects = () => Promise.all(orders.map(effectsOf))
    await eventually(async () => {
      const all = await effects()
      return (
        all.every(
          ({ captured, refunded }, index) => refunded === (gone.includes(orders[index] as Order) ? captured : 0),
        ) || undefined
      )
    }, 'all captured payments of cancelled orders are refunded')
    for (const [index, effect] of (await effects()).entries()) {
      const order = orders[index] as Order
      const isGone = gone.includes(order)
      expect(effect.authorised, order.id).to.be.at.most(1)
      expect(effect.captured, order.id).to.be.at.most(1)
      if (!isGone) expect(effect, order.id).to.deep.equal({ authorised: 1, captured: 1, refunded: 0 })
    }
  })

  it('lets other orders be refused by a decline, with the reason of the provider', async () => {
    await set({ declines: 1 })
    const order = await place()
    await becomes(order, 'PaymentRejected')
    expect((await read(order)).payment).to.include({ policy: 'provider@1', reason: 'the card was declined' })
    await set({ declines: 0 })
  })
})
