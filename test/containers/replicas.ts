import { setTimeout as delay } from 'node:timers/promises'
import { paymentsOf, paymentUrl } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { createProducer } from '@orderflow/chaos/clients/kafka'
import { openBook } from '@orderflow/chaos/ledger/book'
import { orderEvents } from '@orderflow/envelope-schema'
import type { Payment } from '@orderflow/payment-service/domain'
import { defaultPorts, entryOf, eventually, partitions, withAdmin } from '@orderflow/stack'
import { expect } from 'chai'
import { openContainer } from './container.ts'
import { expectPaidOnce } from './expect-paid-once.ts'
import { startPayingLoad } from './paying-load.ts'
import type { RunningContainers } from './running-containers.ts'

/** As many as there are partitions. */
const services = Array.from({ length: partitions }, (_, index) => `payment-service${index > 0 ? `-${index + 1}` : ''}`)
const perSecond = 3

/** One at a time: requests of one moment would share one transaction, and so be one race only. */
const apartMs = 100

/** Replicas of payment-service, on one database and in one consumer group. */
export function replicas(running: () => RunningContainers): void {
  describe('three replicas of payment-service', function () {
    this.timeout(240_000)
    let stack: RunningContainers
    before(() => {
      stack = running()
    })

    /** Waits until each of the three replicas, by its address, has one of the three partitions of orderevents. */
    const untilShared = () =>
      eventually(
        async () => {
          const groups = await withAdmin(stack.kafka, (admin) => admin.describeGroups({ groups: ['payment-service'] }))
          const members = [...(groups.get('payment-service')?.members.values() ?? [])]
          const owners = members.flatMap(({ clientHost, assignments }) =>
            (assignments?.get(orderEvents)?.partitions ?? []).map(() => clientHost),
          )
          return (owners.length === partitions && new Set(owners).size === partitions) || undefined
        },
        'each of three replicas to have one partition',
        60_000,
      )

    it('join while orders come in, share the partitions, and lose nothing when some die', async function () {
      const load = startPayingLoad(stack, perSecond)
      await stack.scale('payment-service', services.length)
      await untilShared()
      // The partition of the one moves to another replica; that of the other waits until its service is back.
      const dying = ['payment-sidecar', 'payment-service-2']
      const containers = await Promise.all(dying.map((name) => openContainer(stack.project, name)))
      await Promise.all(containers.map((container) => container.kill()))
      await delay(6_000)
      await Promise.all(containers.map((container) => container.start()))
      await untilShared()
      const { orders } = await load.endsPaidOnce()
      if (this.test) this.test.title += ` (${orders} orders)`
    })

    it('decide one payment for an order that all of them are asked for at the same moment', async () => {
      const orders = Array.from({ length: 30 }, () => full({ CustomerName: crypto.randomUUID(), Total: 7 }))
      const book = openBook({})
      for (const { Payload } of orders) {
        const { OrderId: id, CustomerName: name, Total: total } = Payload
        book.attempted({ name, source: 'outside', total, id })
      }
      const ids = orders.map(({ Payload }) => Payload.OrderId)
      const at = Date.now() + 3_000
      const asking = services.map((name) => payAll(stack.project, name, ids, at))
      const producer = createProducer(stack.kafka)
      for (const [index, order] of orders.entries()) {
        await delay(Math.max(0, at + index * apartMs - Date.now()))
        await producer.send({ topic: orderEvents, value: JSON.stringify(order) })
      }
      await producer.close()
      const answers = await Promise.all(asking)
      await expectPaidOnce(stack, book)
      for (const [index, id] of ids.entries()) {
        const [payment] = (await paymentsOf(paymentUrl(stack), id)) as [Payment]
        const made = answers.filter((statuses) => statuses[index] === 201)
        const refused = answers.filter((statuses) => statuses[index] === 409)
        expect([made.length, refused.length]).to.deep.equal(payment.source === 'Manual' ? [1, 2] : [0, 3])
      }
    })
  })
}

/** Asks a replica, from inside, for a payment of each order at its own moment. Answers the statuses in order. */
async function payAll(project: string, service: string, orderIds: string[], at: number): Promise<number[]> {
  const script = `const { url, orderIds, at, apartMs } = JSON.parse(process.env.ASKED)
    const pay = async (orderId, index) => {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, at + index * apartMs - Date.now())))
      const body = JSON.stringify({ orderId, amount: 7 })
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return answer.status
    }
    console.log(JSON.stringify(await Promise.all(orderIds.map(pay))))`
  const url = `http://127.0.0.1:${entryOf(defaultPorts.services, 'payment-service').http}/v1/payments`
  const container = await openContainer(project, service)
  const asked = JSON.stringify({ url, orderIds, at, apartMs })
  return JSON.parse(await container.exec(['node', '--input-type=module', '-e', script], { ASKED: asked }))
}
