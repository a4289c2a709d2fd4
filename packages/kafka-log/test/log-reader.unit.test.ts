import { expect } from 'chai'
import { LogError } from '../src/errors.ts'
import { logOn } from '../src/log-reader.ts'
import type { LogRecord } from '../src/record.ts'
import { FakeCluster } from './fake-cluster.ts'

describe('logOn', () => {
  let cluster: FakeCluster
  beforeEach(() => {
    cluster = new FakeCluster()
  })
  const log = (attempts = 1) => logOn(async () => cluster.admin, ['kafka:1'], attempts)
  const failureOf = async (work: Promise<unknown>) => {
    const error = await work.catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(LogError)
    return (error as LogError).message
  }
  async function all(topic: string, reader = log()): Promise<string[]> {
    const found: LogRecord[] = []
    for await (const records of reader.read(topic, await reader.spans(topic))) found.push(...records)
    return found.map(({ partition, value }) => `${partition}/${value}`)
  }

  it('reads the records of all partitions in the order of their times', async () => {
    cluster.add('events', 1, [20, 40, 60])
    cluster.add('events', 0, [10, 30, 50], { leader: 2 })
    expect(await all('events')).to.deep.equal(['0/0', '1/0', '0/1', '1/1', '0/2', '1/2'])
    expect((await log().spans('events')).map(({ partition }) => partition)).to.deep.equal([0, 1])
  })

  it('returns the spans of a time range', async () => {
    cluster.add('events', 0, [10, 90, 20, 30])
    const [span] = await log().spans('events', { from: new Date(15), to: new Date(30) })
    expect(span).to.deep.equal({ partition: 0, start: 1n, end: 3n })
  })

  it('returns a record at a position, and undefined for a record that the retention has removed', async () => {
    cluster.add('events', 0, [10, 20, 30], { start: 5n })
    const at = (offset: number) => log().at({ topic: 'events', partition: 0, offset: String(offset) })
    expect((await at(6))?.timestamp).to.equal(20)
    expect([await at(4), await at(8)]).to.deep.equal([undefined, undefined])
  })

  it('reports whether a partition exists', async () => {
    cluster.add('events', 0, [])
    const has = (topic: string, partition: number) => log().has({ topic, partition, offset: '0' })
    expect(await Promise.all([has('events', 0), has('events', 1), has('other', 0)])).to.deep.equal([true, false, false])
  })

  it('names the brokers and the reason if a partition has no leader', async () => {
    cluster.add('events', 0, [], { leader: undefined })
    const message = await failureOf(log().spans('events'))
    expect(message).to.equal(
      'topic events cannot be read at kafka:1: events/0 is unreadable: it has no leader: start broker 2, which has its records',
    )
  })

  it('fails if the retention removes a record while it is read', async () => {
    const partition = cluster.add('events', 0, [10, 20])
    const spans = await log().spans('events')
    partition.start = 1n
    expect(await failureOf(log(5).read('events', spans).next())).to.contain('did not return the record at the offset 0')
  })

  it('asks for the new leader, and repeats the request', async () => {
    const partition = cluster.add('events', 0, [10])
    const reader = log(2)
    const spans = await reader.spans('events')
    cluster.down.add(1)
    partition.leader = 2
    expect((await reader.read('events', spans).next()).value).to.have.length(1)
  })

  it('repeats no request that Kafka denies', async () => {
    cluster.add('events', 0, [10], { error: 29 })
    const message = await failureOf(log(5).spans('events'))
    expect(message).to.contain('TOPIC_AUTHORIZATION_FAILED').and.to.contain('./orderflow acls')
    expect(cluster.requests.filter((name) => name === 'Metadata')).to.have.length(1)
  })
})
