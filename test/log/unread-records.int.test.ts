import { extentsOf, unreadIn, withAdmin } from '@orderflow/kafka-log'
import type { KafkaConnection } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { releaseFolder } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { logWriter, startOpenBroker } from '../support/kafka/open-broker.ts'
import { claimPlan } from '../support/kafka/own-kafka.ts'

describe('unreadIn', function () {
  this.timeout(60_000)
  let kafka: KafkaConnection
  let writer: ReturnType<typeof logWriter>
  let topic: string

  before(async () => {
    kafka = await startOpenBroker(await claimPlan('unread-records'))
    writer = logWriter(kafka)
  })
  after(() => releaseFolder(testFolder('unread-records')))

  let made = 0
  beforeEach(async () => {
    made += 1
    topic = `topic-${made}`
    await writer.create(topic, 2)
  })

  /** Returns the first unread record from an offset on, the number of unread records, and the end of the log. */
  async function unread(next: bigint, partition = 0) {
    const [found, end] = await withAdmin(kafka, async (admin) => {
      const { [partition]: extent } = await extentsOf(admin, [topic])
      if (!extent) throw new Error(`${topic} has no partition ${partition}`)
      const [part] = await unreadIn(admin, [{ ...extent, next }])
      return [part, extent.end] as const
    })
    return { ...found, first: found?.first?.offset, at: found?.first?.timestamp, end }
  }
  const nothing = { first: undefined, count: 0, isAtMost: false }

  it('returns the first unread record with its time, and the count', async () => {
    await writer.publish(topic, 0, 'a')
    const before = Date.now()
    await writer.publish(topic, 0, 'b', 'c')
    const found = await unread(1n)
    expect(found).to.include({ first: 1n, count: 2, isAtMost: false })
    expect(found.at).to.be.within(before, Date.now())
    expect(await unread(3n)).to.include(nothing)
  })

  it('counts no records in an empty partition', async () => {
    expect(await unread(0n)).to.include({ ...nothing, end: 0n })
  })

  it('skips the marker of a transaction', async () => {
    await writer.transact('commit', topic, 0, 'a', 'b')
    expect(await unread(2n)).to.include({ ...nothing, end: 3n })
    expect(await unread(0n)).to.include({ first: 0n, count: 2, isAtMost: false })
    await writer.publish(topic, 0, 'c')
    expect(await unread(2n)).to.include({ first: 3n, count: 1, isAtMost: false })
  })

  it('counts the records of an aborted transaction, because they are delivered', async () => {
    await writer.transact('abort', topic, 0, 'a', 'b')
    expect(await unread(0n)).to.include({ first: 0n, count: 2, end: 3n })
    expect(await unread(2n)).to.include(nothing)
  })

  it('counts only the records that compaction has left', async () => {
    topic = `compacted-${topic}`
    await writer.compact(topic, 5)
    await eventually(async () => (await unread(0n)).first === 4n, 'the log to be compacted')
    expect(await unread(0n)).to.include({ first: 4n, count: 2, isAtMost: false, end: 6n })
    expect(await unread(2n)).to.include({ first: 4n, count: 2 })
  })

  it('skips records below the beginning of a truncated log', async () => {
    await writer.publish(topic, 0, 'a', 'b', 'c')
    await writer.deleteBelow(topic, 0, 2n)
    expect(await unread(0n)).to.include({ first: 2n, count: 1, isAtMost: false })
    await writer.deleteBelow(topic, 0, 3n)
    expect(await unread(0n)).to.include({ ...nothing, end: 3n })
  })

  it('counts few records exactly, and reports an upper bound for many', async () => {
    const batch = Array.from({ length: 20 }, () => 'x'.repeat(1_000))
    for (let batches = 0; batches < 10; batches += 1) await writer.publish(topic, 0, ...batch)
    expect(await unread(0n)).to.include({ first: 0n, count: 200, isAtMost: true })
    expect(await unread(190n)).to.include({ first: 190n, count: 10, isAtMost: false })
  })

  it('finds the first record in each of several partitions, even if a record is larger than one fetch', async () => {
    for (const partition of [0, 1]) await writer.publish(topic, partition, 'x'.repeat(200_000), 'y'.repeat(200_000))
    const found = await withAdmin(kafka, async (admin) => {
      const extents = await extentsOf(admin, [topic])
      expect(extents.map(({ partition, end }) => [partition, end])).to.deep.equal([0, 1].map((each) => [each, 2n]))
      const parts = extents.flatMap((extent) => [0n, 1n].map((next) => ({ ...extent, next })))
      return await unreadIn(admin, parts)
    })
    expect(found.map(({ first, count }) => [first?.offset, count])).to.deep.equal([
      [0n, 2],
      [1n, 1],
      [0n, 2],
      [1n, 1],
    ])
  })

  it('finds records after more markers than one fetch returns', async () => {
    topic = `compacted-${topic}`
    await writer.compact(topic, 1_000, topic)
    // A record and its marker take two offsets.
    await eventually(async () => (await unread(0n)).first === 1_998n, 'the log to be compacted')
    expect(await unread(0n)).to.include({ count: 2, isAtMost: false, end: 2_001n })
  })
})
