import { expect } from 'chai'
import { services } from '../../src/application/services.ts'
import { aclCommands, denyTransactionsCommand } from '../../src/kafka/access.ts'
import {
  brokerUser,
  exporterRights,
  nameProblem,
  publisherRights,
  serviceRights,
  stackUsers,
  watcherRights,
} from '../../src/kafka/rights.ts'

// test/specs/rights/stream-rights.ts tests these rights at a real broker.

const told = (rights: ReturnType<typeof serviceRights>) =>
  rights.map(({ operation, resource, name }) => `${operation} ${resource} ${name}`)

describe('serviceRights', () => {
  const rights = serviceRights({ name: 'a-service', consumes: { in: 'prompt' }, produces: ['out'] })

  it('allows a service to read topics that it consumes or rebuilds from, to write events and dead letters, and to use its group', () => {
    expect(told(rights)).to.have.members([
      'read topic in',
      'read topic in.dead',
      'read topic out',
      'read topic out.dead',
      'write topic out',
      'write topic in.dead',
      'read group a-service',
    ])
    for (const { user } of rights) expect(user).to.equal('a-service')
  })

  it('allows a service with deadlines to use the clock, and to read the retention of its topics', () => {
    const service = { name: 'a-service', consumes: { in: 'prompt' }, produces: ['out'] } as const
    const others = new Set(told(serviceRights({ ...service, produces: ['out'] })))
    const all = told(serviceRights({ ...service, produces: ['out'], deadlines: true }))
    expect(all.filter((right) => !others.has(right))).to.have.members([
      'read topic __clock',
      'write topic __clock',
      'describeConfigs topic in',
      'describeConfigs topic out',
    ])
  })

  it('lists a topic once if the service both consumes and produces it', () => {
    const both = told(serviceRights({ name: 'a-service', consumes: { in: 'prompt' }, produces: ['in'] }))
    expect(both).to.have.members([
      'read topic in',
      'read topic in.dead',
      'write topic in',
      'write topic in.dead',
      'read group a-service',
    ])
  })
})

describe('serviceRights without consumed topics', () => {
  it('allows a service only to write its topics if this service has neither a group nor a store', () => {
    expect(told(serviceRights({ name: 'a-gate', consumes: {}, produces: ['out'] }))).to.deep.equal(['write topic out'])
  })
})

describe('exporterRights', () => {
  it('allows the exporter only to describe topics and groups, and to read consumed topics', () => {
    const rights = exporterRights([
      { name: 'a-service', consumes: { in: 'prompt' }, produces: ['out'] },
      { name: 'a-gate', consumes: {}, produces: ['out'] },
    ])
    expect(told(rights)).to.have.members([
      'read topic in',
      'describe topic in.dead',
      'describe topic out',
      'describe topic out.dead',
      'describe group a-service',
    ])
    for (const { user } of rights) expect(user).to.equal('exporter')
  })
})

describe('watcherRights', () => {
  it('allows a watcher to read topics and settings, to write to each topic and to describe groups, but gives it no group of its own', () => {
    const rights = watcherRights('a-monitor', [
      { name: 'a-service', consumes: { in: 'prompt' }, produces: ['in'] },
      { name: 'a-gate', consumes: {}, produces: ['in'] },
    ])
    expect(told(rights)).to.have.members([
      'read topic in',
      'write topic in',
      'describeConfigs topic in',
      'read topic in.dead',
      'write topic in.dead',
      'describeConfigs topic in.dead',
      'describe group a-service',
    ])
    for (const { user } of rights) expect(user).to.equal('a-monitor')
  })
})

describe('aclCommands', () => {
  it('returns one command for each user, resource and name', () => {
    const rights = [
      ...serviceRights({ name: 'a-service', consumes: { in: 'prompt' }, produces: ['out'] }),
      ...publisherRights('legacy'),
    ]
    const [begin, ...ends] = [
      'kafka-acls.sh --bootstrap-server "$Stream__Brokers" --command-config admin.properties --add --allow-principal User:',
      'a-service --topic in --operation Read',
      'a-service --topic in.dead --operation Read --operation Write',
      'a-service --topic out --operation Read --operation Write',
      'a-service --topic out.dead --operation Read',
      'a-service --group a-service --operation Read',
      'legacy --topic orderevents --operation Write',
    ]
    expect(aclCommands(rights)).to.deep.equal(ends.map((end) => begin + end))
  })

  it('denies transactions to every user, in a command that is quoted for a shell', () => {
    expect(denyTransactionsCommand()).to.match(
      / --add --deny-principal 'User:\*' --transactional-id '\*' --operation All$/,
    )
  })
})

describe('nameProblem', () => {
  it('accepts words of lower-case letters and digits as a name', () => {
    for (const name of ['legacy', 'shop-2', 'a']) expect(nameProblem(name), name).to.equal(undefined)
    for (const name of ['', 'Legacy', 'a b', 'a_b', '-a', 'a-', 'a--b', 'é', '*', 'a:b', 'a'.repeat(41)]) {
      expect(nameProblem(name), name).to.match(/lower-case/)
    }
  })

  it('refuses the names of the operator, the broker, and present or removed services', () => {
    for (const { name } of services) expect(nameProblem(name)).to.match(/services/)
    expect(nameProblem('former-service')).to.match(/services/)
    const others = stackUsers.filter((user) => !services.some(({ name }) => name === user))
    for (const user of [brokerUser, ...others]) expect(nameProblem(user), user).to.match(/the stack/)
  })
})
