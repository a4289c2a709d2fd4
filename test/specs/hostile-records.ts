import { randomUUID } from 'node:crypto'
import { openLog, readDeadLetters } from '@orderflow/service-kit/operations'
import type { RunningStack } from '@orderflow/stack'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import fc from 'fast-check'
import { orderWith, paymentsOf, send } from '../support/api.ts'
import { reduced } from '../support/envelopes.ts'
import { eventually } from '../support/eventually.ts'
import { type HostileRecord, hasForeignName, hostileRecords } from '../support/hostile.ts'

const topic = 'orderevents'
const partitions = [0, 1, 2]
const count = 240

/** Fuzzed records through the real Kafka, sidecars and services. SEED runs one again. */
export function hostilePublishers(running: () => RunningStack): void {
  describe('hostile publishers', () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))

    it(`end each of their records as a state change or a dead letter of each service (SEED=${seed})`, async function () {
      this.timeout(120_000)
      const stack = running()
      const [records = []] = fc.sample(hostileRecords(count), { seed, numRuns: 1 })
      const places = await publish(stack, records)
      const log = openLog(stack.kafka)
      try {
        const stored = new Map<string, Set<string>>()
        await eventually(async () => {
          const { entries } = await readDeadLetters(log)
          const open: string[] = []
          for (const [index, record] of records.entries()) {
            for (const app of ['order-service', 'payment-service']) {
              const name = `${places[index]} in ${app}`
              const isDead = entries.some(
                (entry) => entry.app === app && entry.attempts.some(({ place }) => place === places[index]),
              )
              const isStored = !isDead && (await isStoredIn(stack, app, record.orderId))
              if (isStored) stored.set(app, (stored.get(app) ?? new Set()).add(record.orderId))
              if (!isDead && !isStored && !hasForeignName(record.value)) open.push(name)
            }
          }
          if (open.length > 0) lastOpen = open
          return open.length === 0
        }, 'an outcome of each record').catch((error: Error) => {
          throw new Error(`${error.message}; without one: ${lastOpen.slice(0, 5).join(', ')}`)
        })
        for (const orders of stored.values()) expect(orders.size).to.be.within(10, count - 10)
      } finally {
        await log.close()
      }
      for (const url of [stack.orderUrl, stack.paymentUrl]) expect((await send(`${url}/readyz`)).status).to.equal(200)
    })

    let lastOpen: string[] = []
  })
}

async function isStoredIn(stack: RunningStack, app: string, orderId: string): Promise<boolean> {
  if (app === 'payment-service') return (await paymentsOf(stack.paymentUrl, orderId)).length === 1
  return (await send(`${stack.orderUrl}/v1/orders/${orderId}`)).status === 200
}

/** Publishes the records and, behind them in each partition, an order that must be paid. Answers their places. */
async function publish(stack: RunningStack, records: HostileRecord[]): Promise<string[]> {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'hostile-application', ...stack.kafka })
  try {
    const places: string[] = []
    for (const [index, { key, value, headers }] of records.entries()) {
      const message = { topic, partition: index % partitions.length, ...(key && { key }), value: value as Buffer }
      const { offsets } = await producer.send({ messages: [{ ...message, headers: new Map(headers) }], acks: -1 })
      places.push(`${topic}/${offsets?.[0]?.partition}/${offsets?.[0]?.offset}`)
    }
    const healthy = partitions.map((partition) => ({ partition, orderId: randomUUID() }))
    for (const { partition, orderId } of healthy) {
      await producer.send({
        messages: [{ topic, partition, value: Buffer.from(JSON.stringify(reduced({ OrderId: orderId }))) }],
      })
    }
    for (const { orderId } of healthy) await orderWith(stack.orderUrl, orderId, 'Paid')
    return places
  } finally {
    await producer.close()
  }
}
