import type { StreamSettings } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { createStreamCheck, type StreamAdmin, type TopicUse } from '../../src/runtime/readiness/stream-check.ts'
import { virtualTime } from '../support/virtual-time.ts'

interface Transactions {
  mayBegin?: StreamAdmin['mayBeginTransactions']
  warn?: (warning: string) => void
}

const idle = { mayBeginTransactions: async () => false, close: async () => {} }
const settings = { Brokers: 'a:1', AuthType: 'none' } as StreamSettings

describe('createStreamCheck', () => {
  const calls = { opened: 0, described: 0, asked: 0, closed: 0 }
  beforeEach(() => Object.assign(calls, { opened: 0, described: 0, asked: 0, closed: 0 }))
  const time = virtualTime()

  const use = { group: 'a-service', reads: ['in'], writes: ['out', 'in.dead'] }
  const all = { read: true, write: true }

  /** Returns a check for a Kafka cluster. `answer` returns the group's state and number of members, and `uses` contains the rights to topics. */
  function check(
    answer: () => Promise<[state: string, members: number]>,
    uses: Record<string, TopicUse> = {},
    { mayBegin = async () => false, warn = () => {} }: Transactions = {},
  ) {
    const admin: StreamAdmin = {
      mayBeginTransactions: mayBegin,
      async topicUses(topics) {
        calls.asked += 1
        return new Map(topics.map((topic) => [topic, uses[topic] ?? all]))
      },
      async describeGroups({ groups }) {
        calls.described += 1
        const [state, size] = await answer()
        return new Map(groups.map((name) => [name, { state, members: { size } }]))
      },
      async close() {
        calls.closed += 1
      },
    }
    const open = async () => {
      calls.opened += 1
      return admin
    }
    return createStreamCheck(settings, use, { open, warn })
  }
  const kafkaError = (apiId: string) =>
    new AggregateError([Object.assign(new Error('x'), { errors: [{}, refusal(apiId)] })])
  const refusal = (apiId: string) => Object.assign(new Error('The group is s3cret'), { apiId })

  it('reports no problem if the group has members', async () => {
    expect(await check(async () => ['Stable', 3])()).to.equal(undefined)
  })

  for (const state of ['PreparingRebalance', 'CompletingRebalance']) {
    it(`accepts a rebalancing group (${state}), because a rebalance affects all replicas`, async () => {
      expect(await check(async () => [state, 0])()).to.equal(undefined)
    })
  }

  for (const state of ['Empty', 'Dead']) {
    it(`reports that the service consumes nothing if the group is ${state}`, async () => {
      expect(await check(async () => [state, 0])()).to.equal(
        'consumer group a-service has no members: nothing is consumed',
      )
    })
  }

  const failures = {
    'the broker does not answer': new AggregateError([new Error('connect ECONNREFUSED 10.0.0.1:9092')]),
    'this user may not describe consumer group a-service': kafkaError('GROUP_AUTHORIZATION_FAILED'),
    'the broker does not accept the user and its password': kafkaError('SASL_AUTHENTICATION_FAILED'),
    'consumer group a-service cannot be described: COORDINATOR_NOT_AVAILABLE': kafkaError('COORDINATOR_NOT_AVAILABLE'),
  }
  for (const [words, error] of Object.entries(failures)) {
    it(`reports the error “${words}”`, async () => {
      expect(await check(() => Promise.reject(error))()).to.equal(words)
      expect(calls.closed).to.equal(1)
    })
  }

  it('requires only that the broker answers, for a service that consumes nothing', async () => {
    const brokerOnly = (topicUses: StreamAdmin['topicUses']) =>
      createStreamCheck(
        settings,
        { group: undefined, reads: [], writes: [] },
        { open: async () => ({ ...idle, topicUses, describeGroups: () => Promise.reject(new Error('not asked')) }) },
      )()
    expect(await brokerOnly(async () => new Map())).to.equal(undefined)
    expect(await brokerOnly(() => Promise.reject(new Error('x')))).to.equal('the broker does not answer')
    expect(await brokerOnly(() => Promise.reject(kafkaError('CLUSTER_AUTHORIZATION_FAILED')))).to.equal(
      'the topics cannot be described: CLUSTER_AUTHORIZATION_FAILED',
    )
  })

  const denials = {
    'this user may not read topic in': { in: { read: false, write: true } },
    'this user may not write topic out': { out: { read: true, write: false } },
    'this user may not write topic in.dead': { 'in.dead': { read: false, write: false } },
  }
  for (const [words, uses] of Object.entries(denials)) {
    it(`reports the missing right “${words}”`, async () => {
      expect(await check(async () => ['Stable', 1], uses)()).to.equal(words)
    })
  }

  it('ignores rights that the service does not need', async () => {
    const uses = { in: { read: true, write: false }, out: { read: false, write: true } }
    expect(await check(async () => ['Stable', 1], uses)()).to.equal(undefined)
  })

  it('accepts a broker that does not report the user’s rights', async () => {
    const open = async () => ({
      ...idle,
      topicUses: async () => new Map(),
      describeGroups: async () => new Map([['a-service', { state: 'Stable', members: { size: 1 } }]]),
    })
    const silent = createStreamCheck(settings, use, { open })
    expect(await silent()).to.equal(undefined)
  })

  it('reports a broker that does not answer within three seconds', async () => {
    let answer: string | undefined
    check(() => new Promise(() => {}))().then((told) => (answer = told))
    await time.pass(2_000)
    expect(answer).to.equal(undefined)
    await time.pass(1_000)
    expect(answer).to.equal('the broker does not answer in time')
  })

  describe('the check for transactions', () => {
    const warnings: string[] = []
    const warn = (warning: string) => void warnings.push(warning)
    beforeEach(() => warnings.splice(0))

    it('warns once if Kafka lets the service begin transactions, and reports the service as ready', async () => {
      const ask = check(async () => ['Stable', 1], {}, { mayBegin: async () => true, warn })
      for (let turn = 0; turn < 3; turn += 1) {
        expect(await ask()).to.equal(undefined)
        await time.pass(2_100)
      }
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.match(/begin transactions.*\.\/orderflow acls/)
    })

    it('asks once and gives no warning if Kafka denies transactions', async () => {
      let asked = 0
      const mayBegin = async () => {
        asked += 1
        return false
      }
      const ask = check(async () => ['Stable', 1], {}, { mayBegin, warn })
      await ask()
      await time.pass(2_100)
      await ask()
      expect([asked, warnings]).to.deep.equal([1, []])
    })

    it('asks again until Kafka answers, and reports the service as ready meanwhile', async () => {
      const answers = [() => Promise.reject(new Error('cut off')), async () => undefined, async () => true]
      const ask = check(
        async () => ['Stable', 1],
        {},
        { mayBegin: () => (answers.shift() as () => Promise<boolean | undefined>)(), warn },
      )
      for (const given of [0, 0, 1]) {
        expect(await ask()).to.equal(undefined)
        await time.pass(2_100)
        expect(warnings).to.have.length(given)
      }
      expect(calls.closed).to.equal(3)
    })
  })

  it('names the setting if no broker is configured', async () => {
    expect(await createStreamCheck({ ...settings, Brokers: '' }, use)()).to.match(/set Stream__Brokers/)
  })

  it('shares one check among concurrent callers, and repeats the check after two seconds', async () => {
    let members = 1
    const ask = check(async () => ['Stable', members])
    expect(await Promise.all([ask(), ask(), ask()])).to.deep.equal([undefined, undefined, undefined])
    members = 0
    expect(await ask()).to.equal(undefined)
    expect(calls.described).to.equal(1)
    await time.pass(2_100)
    expect(await ask()).to.match(/no members/)
    members = 1
    expect(await ask()).to.match(/no members/)
    await time.pass(600)
    expect(await ask()).to.equal(undefined)
    expect(calls).to.deep.equal({ opened: 3, described: 3, asked: 3, closed: 3 })
  })
})
