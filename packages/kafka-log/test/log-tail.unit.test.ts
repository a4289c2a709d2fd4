import { expect } from 'chai'
import { LogTail, type TailOptions, type TailPosition } from '../src/log-tail.ts'
import { FakeCluster } from './fake-cluster.ts'

describe('LogTail', () => {
  let cluster: FakeCluster
  beforeEach(() => {
    cluster = new FakeCluster()
  })
  const tailOf = (options: TailOptions = {}) => new LogTail(async () => cluster.admin, options)
  const storedAt = (next: bigint, topicId = 'events') =>
    new Map<string, TailPosition>([['events/0', { topic: 'events', partition: 0, topicId, next }]])

  it('reads all topics from their first record, and returns the positions after the records', async () => {
    cluster.add('events', 0, [10, 20])
    cluster.add('events', 1, [5], { start: 7n })
    cluster.add('__internal', 0, [1])
    const { records, positions, gaps } = await tailOf().read()
    expect(records.map(({ timestamp }) => timestamp)).to.deep.equal([5, 10, 20])
    expect(positions.map(({ partition, next }) => [partition, next])).to.deep.equal([
      [0, 2n],
      [1, 8n],
    ])
    expect(gaps).to.deep.equal([])
  })

  it('continues at stored positions, inside of a batch, too', async () => {
    cluster.add('events', 0, [10, 20, 30])
    const tail = tailOf({ topics: ['events'], stored: storedAt(1n) })
    expect((await tail.read()).records.map(({ offset }) => offset)).to.deep.equal([1n])
    expect(tail.lag).to.equal(1)
    expect((await tail.read()).records.map(({ offset }) => offset)).to.deep.equal([2n])
    expect(tail.lag).to.equal(0)
  })

  it('begins at the offsets that its caller chooses', async () => {
    cluster.add('events', 0, [10, 20, 30])
    const { records } = await tailOf({ begin: ({ end }) => end - 1n }).read()
    expect(records.map(({ offset }) => offset)).to.deep.equal([2n])
  })

  it('reports offsets that the retention has removed as a gap', async () => {
    cluster.add('events', 0, [10], { start: 5n })
    const { records, gaps } = await tailOf({ stored: storedAt(2n) }).read()
    expect(gaps).to.deep.equal([{ topic: 'events', partition: 0, from: 2n, to: 5n, why: 'truncated' }])
    expect(records.map(({ offset }) => offset)).to.deep.equal([5n])
  })

  it('reads a topic that was created again from its first record', async () => {
    cluster.add('events', 0, [10])
    for (const stored of [storedAt(1n, 'former'), storedAt(9n)]) {
      const { records, gaps } = await tailOf({ stored }).read()
      expect(gaps.map(({ to, why }) => [to, why])).to.deep.equal([[0n, 'recreated']])
      expect(records).to.have.length(1)
    }
  })

  it('reads the other partitions while one has no leader, one is denied, and the leader of one is down', async () => {
    cluster.add('events', 0, [10])
    cluster.add('events', 1, [], { leader: undefined })
    cluster.add('events', 2, [], { error: 29 })
    cluster.add('events', 3, [], { leader: 2 })
    cluster.topicErrors.set('denied', 29)
    cluster.down.add(2)
    const tail = tailOf({ topics: ['events', 'denied', 'missing'] })
    expect((await tail.read()).records).to.have.length(1)
    const reasons = tail.unreadable.map(({ topic, partition, why }) => `${topic} ${partition} ${why}`).sort()
    expect(reasons).to.have.length(5)
    expect(reasons[0]).to.match(
      /^denied null Kafka answers TOPIC_AUTHORIZATION_FAILED: .* \.\/orderflow acls prints it$/,
    )
    expect(reasons[1]).to.equal('events 1 it has no leader: start broker 2, which has its records')
    expect(reasons[2]).to.match(/^events 2 Kafka answers TOPIC_AUTHORIZATION_FAILED: /)
    expect(reasons[3]).to.equal('events 3 broker 2 at kafka:2 leads it and does not answer: connect ECONNREFUSED')
    expect(reasons[4]).to.match(/^missing null Kafka answers UNKNOWN_TOPIC_OR_PARTITION: /)
  })

  it('keeps a gap until a call returns it', async () => {
    const partition = cluster.add('events', 0, [10], { start: 5n })
    const tail = tailOf({ stored: storedAt(2n) })
    partition.fetchError = 6
    expect(await tail.read().catch((error: Error) => error.message)).to.match(/^events\/0 is unreadable: /)
    delete partition.fetchError
    await new Promise((resolve) => setTimeout(resolve, 1_050))
    expect((await tail.read()).gaps).to.have.length(1)
  })
})
