import { paymentsOf, paymentUrl } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { openBook } from '@orderflow/chaos/ledger/book'
import { orderEvents } from '@orderflow/envelope-schema'
import { withAdmin } from '@orderflow/kafka-log'
import { podOf, serviceNamed } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { partitions } from '@orderflow/stack/internals'
import { createProducer } from '@orderflow/test-kit'
import { openContainer } from '@orderflow/test-kit/containers'
import { expect } from 'chai'
import { succeeded } from '../specs/operations/commands.ts'
import { expectPaidOnce } from './load/expect-paid-once.ts'
import { openPayer } from './load/payer.ts'
import { type PayingLoad, startPayingLoad } from './load/paying-load.ts'
import type { RunningContainers } from './running-containers.ts'

const service = 'payment-service'
const count = 3
const pods = Array.from({ length: count }, (_, index) => podOf(serviceNamed(service), index + 1))
const names = pods.map(([, , name]) => name)
const perSecond = 2

/** Tests replicas with one database and one consumer group, and the commands `scale` and `restart`. */
export function replicas(running: () => RunningContainers): void {
  describe('payment-service with three replicas', () => {
    let stack: RunningContainers
    let load: PayingLoad
    before(() => {
      stack = running()
      load = startPayingLoad(stack, perSecond)
    })

    /** Waits until all partitions of orderevents have an owner, and each replica owns the same number of partitions. */
    const untilShared = (replicas: number) =>
      eventually(
        async () => {
          const groups = await withAdmin(stack.kafka, (admin) => admin.describeGroups({ groups: [service] }))
          const members = [...(groups.get(service)?.members.values() ?? [])]
          const owners = members.flatMap(({ clientHost, assignments }) =>
            (assignments?.get(orderEvents)?.partitions ?? []).map((partition) => ({ clientHost, partition })),
          )
          const shares = [...Map.groupBy(owners, ({ clientHost }) => clientHost).values()].map(({ length }) => length)
          const even = partitions.containers / replicas
          return shares.length === replicas && shares.every((share) => share === even)
        },
        `${replicas} replicas to share the partitions`,
        120_000,
      )

    it('divides the partitions evenly when replicas join under load', async () => {
      const printed = succeeded(await stack.orderflow(['scale', service, String(count)]))
      expect(printed).to.match(new RegExp(`${service}: runs ${count} times, members of its consumer group: [1-9]`))
      await untilShared(count)
    })

    it('divides the partitions again after two replicas were killed and all replicas were restarted', async () => {
      // One replica has lost its sidecar: its partitions wait until the sidecar’s session ends. The other replica has lost its service: its
      // partitions wait until the service runs again.
      const dying = ['payment-sidecar', `${service}-2`]
      await Promise.all(dying.map(async (name) => (await openContainer(stack.project, name)).kill()))
      const restarted = succeeded(await stack.orderflow(['restart', service]))
      for (const name of names) expect(restarted).to.contain(`${name}: restarted`)
      await untilShared(count)
    })

    it('pays every order of the load once', async function () {
      const { orders } = await load.endsPaidOnce()
      if (this.test) this.test.title += ` (${orders} orders)`
    })

    it('decides one payment for an order that all replicas receive at the same moment', async () => {
      const book = openBook({})
      const answers = new Map<string, number[]>()
      const producer = createProducer(stack.kafka)
      const payers = await Promise.all(names.map((name) => openPayer(stack.project, name)))
      for (let round = 0; round < 10; round += 1) {
        // A replica would handle several simultaneous requests in one transaction. So each round sends one request to each replica.
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

    it('gives all partitions to the remaining replica after scaling down', async () => {
      succeeded(await stack.orderflow(['scale', service, '1']))
      await untilShared(1)
      expect(succeeded(await stack.make('status')))
        .to.contain(service)
        .and.not.to.contain(`${service}-2`)
    })
  })
}
