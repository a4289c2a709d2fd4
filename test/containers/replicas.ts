import { paymentsOf, paymentUrl } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { createProducer } from '@orderflow/chaos/clients/kafka'
import { openBook } from '@orderflow/chaos/ledger/book'
import { orderEvents } from '@orderflow/envelope-schema'
import { eventually, partitions, withAdmin } from '@orderflow/stack'
import { expect } from 'chai'
import { succeeded } from '../specs/commands.ts'
import { openContainer } from './container.ts'
import { expectPaidOnce } from './expect-paid-once.ts'
import { openPayer } from './payer.ts'
import { startPayingLoad } from './paying-load.ts'
import type { RunningContainers } from './running-containers.ts'

const service = 'payment-service'
/** As many as there are partitions. */
const names = Array.from({ length: partitions }, (_, index) => `${service}${index > 0 ? `-${index + 1}` : ''}`)
const perSecond = 3

/** Replicas of payment-service, on one database and in one consumer group, as `make scale` makes and removes them. */
export function replicas(running: () => RunningContainers): void {
  describe('three replicas of payment-service', function () {
    this.timeout(120_000)
    let stack: RunningContainers
    before(() => {
      stack = running()
    })

    /** Waits until every partition of orderevents has an owner, and there are so many of these. */
    const untilOwners = (count: number) =>
      eventually(
        async () => {
          const groups = await withAdmin(stack.kafka, (admin) => admin.describeGroups({ groups: [service] }))
          const members = [...(groups.get(service)?.members.values() ?? [])]
          const owners = members.flatMap(({ clientHost, assignments }) =>
            (assignments?.get(orderEvents)?.partitions ?? []).map(() => clientHost),
          )
          return owners.length === partitions && new Set(owners).size === count
        },
        `${count} replicas to share the partitions`,
        60_000,
      )

    it('join while orders come in, share the partitions, and lose nothing when some die', async function () {
      const load = startPayingLoad(stack, perSecond)
      const printed = succeeded(await stack.make('scale', `SERVICE=${service}`, `N=${partitions}`))
      expect(printed).to.match(new RegExp(`${service}: runs ${partitions} times, members of its consumer group: [1-9]`))
      await untilOwners(partitions)
      // The partition of the one moves to another replica; that of the other waits until its service is back.
      const dying = ['payment-sidecar', `${service}-2`]
      const containers = await Promise.all(dying.map((name) => openContainer(stack.project, name)))
      await Promise.all(containers.map((container) => container.kill()))
      await untilOwners(partitions - 1)
      await load.accepts(perSecond)
      await Promise.all(containers.map((container) => container.start()))
      await untilOwners(partitions)
      const { orders } = await load.endsPaidOnce()
      if (this.test) this.test.title += ` (${orders} orders)`
    })

    it('decide one payment for an order that all of them are asked for at the same moment', async () => {
      const book = openBook({})
      const answers = new Map<string, number[]>()
      const producer = createProducer(stack.kafka)
      const payers = await Promise.all(names.map((name) => openPayer(stack.project, name)))
      for (let round = 0; round < 10; round += 1) {
        // One order at a time: requests of one moment would share one transaction, and so be one race only.
        const order = full({ CustomerName: crypto.randomUUID(), Total: 7 })
        const { OrderId: id, CustomerName: name, Total: total } = order.Payload
        book.attempted({ name, source: 'outside', total, id })
        const asked = payers.map((payer) => payer.pay(id, total))
        await producer.send({ topic: orderEvents, value: JSON.stringify(order) })
        answers.set(id, await Promise.all(asked))
      }
      await Promise.all([producer.close(), ...payers.map((payer) => payer.close())])
      await expectPaidOnce(stack, book)
      for (const [id, statuses] of answers) {
        const [payment] = await paymentsOf(paymentUrl(stack), id)
        const made = payment?.source === 'Manual' ? [201, 409, 409] : [409, 409, 409]
        expect(statuses.toSorted()).to.deep.equal(made)
      }
    })

    it('are one again when that is asked for', async () => {
      succeeded(await stack.make('scale', `SERVICE=${service}`, 'N=1'))
      await untilOwners(1)
      expect(succeeded(await stack.make('status')))
        .to.contain(service)
        .and.not.to.contain(`${service}-2`)
    })
  })
}
