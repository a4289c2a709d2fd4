import { expect } from 'chai'
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
import { services } from '../../src/lib/services.ts'

// What comes of it at a real broker is tried in test/specs/stream-rights.ts.

const told = (rights: ReturnType<typeof serviceRights>) =>
  rights.map(({ operation, resource, name }) => `${operation} ${resource} ${name}`)

describe('the rights of a service', () => {
  const rights = serviceRights({ name: 'a-service', consumes: { in: 'prompt' }, produces: ['out'] })

  it('are to read what it consumes and what it is rebuilt from, to write what it produces and its dead letters, and its group', () => {
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

  it('name a topic once that it both consumes and produces', () => {
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

describe('the rights of a service that consumes nothing', () => {
  it('are to write what it produces: it has no group, and nothing to rebuild', () => {
    expect(told(serviceRights({ name: 'a-gate', consumes: {}, produces: ['out'] }))).to.deep.equal(['write topic out'])
  })
})

describe('the rights of the exporter', () => {
  it('are to see how far topics and groups go, and to read what services consume, and nothing else', () => {
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

describe('the rights of a service that watches the others', () => {
  it('are to read every topic and its settings, to write back to each, and to see how far groups are; none of its own', () => {
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

describe('the commands for a Kafka that others administer', () => {
  it('are one for each user, resource and name', () => {
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

  it('deny transactions to every user, quoted for a shell', () => {
    expect(denyTransactionsCommand()).to.match(
      / --add --deny-principal 'User:\*' --transactional-id '\*' --operation All$/,
    )
  })
})

describe('the name of an application outside', () => {
  it('is one or more words of small letters and digits', () => {
    for (const name of ['legacy', 'shop-2', 'a']) expect(nameProblem(name), name).to.equal(undefined)
    for (const name of ['', 'Legacy', 'a b', 'a_b', '-a', 'a-', 'a--b', 'é', '*', 'a:b', 'a'.repeat(41)]) {
      expect(nameProblem(name), name).to.match(/lower-case/)
    }
  })

  it('is not that of a service, present or past, of the operator, or of the broker', () => {
    for (const { name } of services) expect(nameProblem(name)).to.match(/services/)
    expect(nameProblem('former-service')).to.match(/services/)
    const others = stackUsers.filter((user) => !services.some(({ name }) => name === user))
    for (const user of [brokerUser, ...others]) expect(nameProblem(user), user).to.match(/the stack/)
  })
})
