import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { anOrder, orderWith, post } from '@orderflow/chaos/clients/api'
import {
  brokerNames,
  dataFolder,
  entryOf,
  eventually,
  freePorts,
  type LocalStack,
  startStack,
  testFolder,
  topics,
  withAdmin,
} from '@orderflow/cli'
import type { Order } from '@orderflow/order-service/domain'
import { metadataOf } from '@orderflow/service-kit/kafka'
import { expect } from 'chai'

describe('a stack with three brokers', function () {
  this.bail(true)
  let stack: LocalStack
  before(async function () {
    this.timeout(0)
    const servers = { store: 'sqlite', brokers: 3 } as const
    stack = await startStack({
      folder: testFolder('three-brokers'),
      ports: await freePorts(),
      servers,
      detached: false,
    })
  })
  after(() => stack?.stop())

  /** Places an order as a client does, which repeats a request until a broker has taken over the partitions of a lost one. */
  const pays = async () => {
    const { url } = entryOf(stack.services, 'order-service')
    const headers = { 'idempotency-key': randomUUID() }
    const placed = await eventually(async () => {
      const { status, body } = await post<Order>(`${url}/v1/orders`, anOrder, headers)
      return status === 201 ? body : undefined
    }, 'the order to be accepted')
    await orderWith(url, placed.id, 'Paid')
  }

  it('keeps each record on three brokers, and acknowledges it when two have it', async () => {
    const names = [...topics.processes.map(({ name }) => name), '__consumer_offsets']
    await pays()
    await withAdmin(stack.kafka, async (admin) => {
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
      await stack.kill(broker)
      rmSync(join(dataFolder(stack.folder), broker), { recursive: true })
      await pays()
      await stack.restart(broker)
      await pays()
    })
  }
})
