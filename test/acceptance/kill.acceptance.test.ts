import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from './http.ts'
import { openPublisher, type Publisher } from './kafka.ts'
import { make, run } from './make.ts'
import { findOrder, paymentEventIds, paymentsOf, post } from './orders.ts'
import { readStack } from './running-stack.ts'
import {
  approvedUpTo,
  commands,
  fullEnvelope,
  kafkaPod,
  namespace,
  type Part,
  parts,
  paymentStatuses,
  printed,
  readOrder,
  reducedEnvelope,
  statuses,
} from './system.ts'

type Ledger = Map<string, number>

const totals = [10, 99.5, approvedUpTo + 1]
const victims = [parts.orders, parts.payments, parts.ordersSidecar, parts.kafka]
const pause = 300

describe('a system whose parts are killed', () => {
  it('keeps every accepted order and pays each order once', async () => {
    const ledger: Ledger = new Map()
    let isOver = false
    const hasEnded = () => isOver
    const load = Promise.all([
      ...Array.from({ length: 3 }, () => placeByHttp(ledger, hasEnded)),
      ...['full', 'reduced'].map((variant) => publishByKafka(ledger, variant === 'full', hasEnded)),
    ])
    let killed = 0
    try {
      for (const victim of victims) {
        const before = ledger.size
        await eventually('orders are accepted', async () => ledger.size >= before + 20 || undefined)
        await kill(victim)
        killed += 1
        await sleep(1000)
        await make(commands.up)
      }
      const before = ledger.size
      await eventually('orders are accepted again', async () => ledger.size >= before + 20 || undefined)
    } finally {
      isOver = true
      await load
    }
    expect(killed).to.equal(victims.length)
    for (const [id, total] of ledger) {
      const isApproved = total <= approvedUpTo
      const status = isApproved ? statuses.paid : statuses.rejected
      const order = await eventually(`order ${id} ends`, async () => {
        const found = await findOrder(id)
        return found?.status === status ? found : undefined
      })
      expect(order.total).to.equal(total)
      const paymentStatus = isApproved ? paymentStatuses.approved : paymentStatuses.rejected
      expect(await paymentsOf(id)).to.deep.equal([{ orderId: id, amount: total, status: paymentStatus }])
      const ids = await eventually(`the monitor has the payment of ${id}`, async () => {
        const found = await paymentEventIds(id)
        return found.length > 0 ? found : undefined
      })
      expect(ids, `payments of ${id}`).to.have.length(1)
    }
  })
})

async function kill(part: Part): Promise<void> {
  const { runner, parts: running } = await readStack()
  if (runner === 'containers') {
    await run('docker', ['compose', 'kill', part])
    return
  }
  if (runner === 'pods') return await killPod(part, [...running.keys()])
  const pid = printed.pid(running.get(part) ?? [])
  expect(pid, `the process of ${part}`).to.be.greaterThan(1)
  process.kill(pid, 'SIGKILL')
  await eventually(`${part} is gone`, async () => !isAlive(pid) || undefined)
}

async function killPod(part: Part, running: string[]): Promise<void> {
  const owner = part === parts.ordersSidecar ? parts.orders : part
  const [from, pod] =
    part === parts.kafka ? (kafkaPod ?? []) : [namespace, running.find((name) => printed.isPodOf(owner, name))]
  expect(pod, `the pod of ${part}`).to.be.a('string')
  await run('kubectl', ['delete', 'pod', pod ?? '', `--namespace=${from}`, '--grace-period=0', '--force'])
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Places orders. Repeats each request with the same key until the order is accepted. */
async function placeByHttp(ledger: Ledger, hasEnded: () => boolean): Promise<void> {
  for (let count = 0; !hasEnded(); count += 1) {
    const [key, total] = [randomUUID(), totals[count % totals.length] ?? 0]
    await eventually(
      'an order is accepted',
      async () => {
        const { status, body } = await post(total, key)
        if (status !== 201 && status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
        return ledger.set(readOrder(body).id, total)
      },
      60,
    )
    await sleep(pause)
  }
}

/** Publishes events. Repeats each event with the same bytes until Kafka confirms the event. */
async function publishByKafka(ledger: Ledger, isFull: boolean, hasEnded: () => boolean): Promise<void> {
  let publisher: Publisher | undefined
  for (let count = 0; !hasEnded(); count += 1) {
    const [orderId, total] = [randomUUID(), totals[count % totals.length] ?? 0]
    const ids = { id: randomUUID(), correlationId: randomUUID(), traceId: randomUUID() }
    const value = JSON.stringify(isFull ? fullEnvelope(orderId, ids, total) : reducedEnvelope(orderId, total))
    await eventually(
      'an event is accepted',
      async () => {
        publisher ??= await openPublisher()
        try {
          await publisher.send({ value, key: orderId })
        } catch (error) {
          const broken = publisher
          publisher = undefined
          await broken.close().catch(() => {})
          throw error
        }
        return ledger.set(orderId, total)
      },
      60,
    )
    await sleep(pause)
  }
  await publisher?.close()
}
