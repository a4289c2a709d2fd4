import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { eventually } from './http.ts'
import { make } from './make.ts'
import { orderIsPaid, paymentsOf, placeOrder, post } from './orders.ts'
import { readStack } from './running-stack.ts'
import { commands, parts, printed, readOrder } from './system.ts'

/**
 * The permitted outcomes. A reset is permitted only if the service never accepted the connection: the kernel also resets connections that
 * still wait to be accepted.
 */
const cleanOutcomes = ['201', '202', '503', 'ECONNREFUSED', 'ECONNRESET']

const pidOf = (running: Map<string, string[]>) => printed.pid(running.get(parts.orders) ?? [])

describe('a restart under load', () => {
  it('creates an order only for a request that is answered with 201 or 202, and each of these orders is paid once', async () => {
    const { runner, parts: before } = await readStack()
    const acceptedIds = new Set<string>()
    const resets: { key: string; at: number }[] = []
    const outcomes: Record<string, number> = {}
    let isOver = false
    const client = async () => {
      while (!isOver) {
        const key = randomUUID()
        const outcome = await post(9, key).then(
          ({ status, body }) => {
            if (status === 201 || status === 202) acceptedIds.add(readOrder(body).id)
            return String(status)
          },
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        )
        if (outcome === 'ECONNRESET') resets.push({ key, at: Date.now() })
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
        await sleep(150)
      }
    }
    const clients = Array.from({ length: 8 }, client)
    try {
      await sleep(1000)
      await make(commands.restart(parts.orders))
      const count = acceptedIds.size
      await eventually('orders are accepted again', async () => acceptedIds.size > count + 10 || undefined)
    } finally {
      isOver = true
      await Promise.all(clients)
    }
    if (runner === 'processes') expect(pidOf((await readStack()).parts)).not.to.equal(pidOf(before))
    expect(cleanOutcomes).to.include.members(Object.keys(outcomes))
    expect(outcomes['201']).to.be.at.least(20)
    for (const { key, at } of resets) {
      const { id, createdAt } = await placeOrder(9, key)
      expect(Date.parse(createdAt), `order ${id} was made by a request without an answer`).to.be.at.least(at)
      acceptedIds.add(id)
    }
    for (const id of acceptedIds) {
      await orderIsPaid(id)
      expect(await paymentsOf(id)).to.have.length(1)
    }
  })
})
