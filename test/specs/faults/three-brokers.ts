import { randomUUID } from 'node:crypto'
import { anOrder, orderWith, post } from '@orderflow/chaos/clients/api'
import { metadataOf, withAdmin } from '@orderflow/kafka-log'
import type { Order } from '@orderflow/order-service/order'
import { type Addresses, brokerNames, entryOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { topics } from '@orderflow/stack/operate'
import { expect } from 'chai'

interface Losses {
  /** Kills a broker, and deletes its log. */
  lose: (broker: string) => Promise<void>
  /** Starts a lost broker, and waits until it has all records. */
  recover: (broker: string) => Promise<void>
}

/** The tests of a running stack with three brokers. */
export function threeBrokers(
  running: () => Addresses,
  surroundings: keyof typeof topics,
  { lose, recover }: Losses,
): void {
  /** Places an order as a client does, which repeats a request until a broker has taken over the partitions of a lost one. */
  const pays = async () => {
    const { url } = entryOf(running().services, 'order-service')
    const headers = { 'idempotency-key': randomUUID() }
    const placed = await eventually(async () => {
      const { status, body } = await post<Order>(`${url}/v1/orders`, anOrder, headers)
      return status === 201 ? body : undefined
    }, 'the order to be accepted')
    await orderWith(url, placed.id, 'Paid')
  }

  it('keeps each record on three brokers, and acknowledges it when two have it', async () => {
    const names = [...topics[surroundings].map(({ name }) => name), '__consumer_offsets']
    await pays()
    await withAdmin(running().kafka, async (admin) => {
      const found = await metadataOf(admin, names)
      expect(found.topics.map(({ name }) => name)).to.have.members(names)
      for (const { name, partitions } of found.topics)
        for (const { isrNodes } of partitions) expect(isrNodes, name).to.have.members([1, 2, 3])
      const [settings] = await admin.describeConfigs({
        resources: [{ resourceType: 2, resourceName: 'orderevents', configurationKeys: ['min.insync.replicas'] }],
        includeSynonyms: false,
        includeDocumentation: false,
      })
      expect(settings?.configs.map(({ value }) => value)).to.deep.equal(['2'])
    })
  })

  for (const broker of brokerNames({ brokers: 3 })) {
    it(`pays orders while ${broker} is killed and its log is deleted, and gives it all records again`, async () => {
      await lose(broker)
      await pays()
      await recover(broker)
      await pays()
    })
  }
}
