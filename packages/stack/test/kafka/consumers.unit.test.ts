import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parseAllDocuments } from 'yaml'
import { repository } from '../../src/application/paths.ts'
import { consumerComponents, membersOf, partitions } from '../../src/application/services.ts'

/** The client ids of the components for prompt topics in components/kafka.yaml, without the app's name. */
const clientIds = parseAllDocuments(readFileSync(join(repository, 'components/kafka.yaml'), 'utf8'))
  .map((document) => document.toJS() as { metadata: { name: string }; spec: { metadata: Setting[] } })
  .filter(({ metadata }) => consumerComponents.includes(metadata.name))
  .map(
    ({ spec }) => spec.metadata.find(({ name }) => name === 'clientId')?.value?.replace('{appID}', 'x-service') ?? '',
  )

interface Setting {
  name: string
  value?: string
}

/**
 * Returns how many partitions each replica gets from the range assignor of daprd's Kafka client (Sarama, NewBalanceStrategyRange). The members
 * whose names sort first get one more partition. A name consists of a client id and a random text.
 */
function sharesOf(replicas: number, ids: string[], count: number): number[] {
  const members = Array.from({ length: replicas }, (_, replica) =>
    ids.map((id) => ({ replica, name: `${id}-${randomUUID()}` })),
  )
    .flat()
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const shares = Array<number>(replicas).fill(0)
  for (const [index, { replica }] of members.entries()) {
    const extra = index < count % members.length ? 1 : 0
    shares[replica] = (shares[replica] ?? 0) + Math.floor(count / members.length) + extra
  }
  return shares
}

const spread = (shares: number[]) => Math.max(...shares) - Math.min(...shares)

describe('the assignment of partitions', () => {
  for (let replicas = 1; replicas <= partitions.containers; replicas += 1) {
    it(`gives ${replicas} replicas nearly equal numbers of partitions`, () => {
      // Repeats the test, because random names may be in a good order by chance.
      for (let time = 0; time < 50; time += 1) {
        const shares = sharesOf(replicas, clientIds, partitions.containers)
        expect(shares.reduce((sum, share) => sum + share)).to.equal(partitions.containers)
        expect(spread(shares), shares.join()).to.be.at.most(1)
      }
    })
  }

  it('gives replicas unequal numbers of partitions if all their consumers have the same name', () => {
    const spreads = Array.from({ length: 50 }, () =>
      spread(
        sharesOf(
          5,
          consumerComponents.map(() => 'x-service'),
          partitions.containers,
        ),
      ),
    )
    expect(Math.max(...spreads)).to.be.above(1)
  })

  it('gives replicas with ten or more consumers nearly equal numbers of partitions, although x-service-10 sorts before x-service-2', () => {
    const ids = Array.from({ length: 12 }, (_, index) => `x-service-${index + 1}`)
    for (let replicas = 1; replicas <= 12; replicas += 1) expect(spread(sharesOf(replicas, ids, 12))).to.be.at.most(1)
  })

  it('uses a member for each consumer component, and one for all background topics', () => {
    expect(membersOf({ consumes: { a: 'prompt', b: 'prompt' } })).to.equal(consumerComponents.length)
    expect(membersOf({ consumes: { a: 'prompt', b: 'background' } })).to.equal(consumerComponents.length + 1)
    expect(membersOf({ consumes: { b: 'background' } })).to.equal(1)
    expect(membersOf({ consumes: {} })).to.equal(0)
  })
})
