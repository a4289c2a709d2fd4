import { expect } from 'chai'
import { createStreamCheck, type GroupAdmin } from '../../src/runtime/stream-check.ts'
import type { StreamSettings } from '../../src/stream/kafka-connection.ts'
import { virtualTime } from '../support/virtual-time.ts'

const settings = { Brokers: 'a:1', AuthType: 'none' } as StreamSettings

describe('what keeps a service from its stream', () => {
  const calls = { opened: 0, described: 0, listed: 0, closed: 0 }
  beforeEach(() => Object.assign(calls, { opened: 0, described: 0, listed: 0, closed: 0 }))
  const time = virtualTime()

  /** A Kafka whose groups are given, or that fails. */
  function check(answer: () => Promise<[state: string, members: number]>, group: string | undefined = 'a-service') {
    const admin: GroupAdmin = {
      async listTopics() {
        calls.listed += 1
        await answer()
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
    return createStreamCheck(settings, group, async () => {
      calls.opened += 1
      return admin
    })
  }
  /** As the client reports it: wrapped. */
  const kafkaError = (apiId: string) =>
    new AggregateError([Object.assign(new Error('x'), { errors: [{}, refusal(apiId)] })])
  const refusal = (apiId: string) => Object.assign(new Error('The group is s3cret'), { apiId })

  it('is nothing when the group has members', async () => {
    expect(await check(async () => ['Stable', 3])()).to.equal(undefined)
  })

  for (const state of ['PreparingRebalance', 'CompletingRebalance']) {
    it(`is not a rebalance (${state}), in which all replicas are at once`, async () => {
      expect(await check(async () => [state, 0])()).to.equal(undefined)
    })
  }

  for (const state of ['Empty', 'Dead']) {
    it(`is that nobody consumes, when the group is ${state}`, async () => {
      expect(await check(async () => [state, 0])()).to.equal(
        'consumer group a-service has no members: nothing is consumed',
      )
    })
  }

  const failures = {
    'the broker does not answer': new AggregateError([new Error('connect ECONNREFUSED 10.0.0.1:9092')]),
    'consumer group a-service is denied to this user': kafkaError('GROUP_AUTHORIZATION_FAILED'),
    'the broker does not accept the user and its password': kafkaError('SASL_AUTHENTICATION_FAILED'),
    'consumer group a-service cannot be described: COORDINATOR_NOT_AVAILABLE': kafkaError('COORDINATOR_NOT_AVAILABLE'),
  }
  for (const [words, error] of Object.entries(failures)) {
    it(`is told as "${words}"`, async () => {
      expect(await check(() => Promise.reject(error))()).to.equal(words)
      expect(calls.closed).to.equal(1)
    })
  }

  it('is only the broker for a service that consumes nothing', async () => {
    const brokerOnly = createStreamCheck(settings, undefined, async () => ({
      listTopics: () => Promise.reject(new Error('x')),
      describeGroups: () => Promise.reject(new Error('not asked')),
      close: async () => {},
    }))
    expect(await brokerOnly()).to.equal('the broker does not answer')
  })

  it('is told within three seconds by a broker that hangs', async () => {
    let answer: string | undefined
    check(() => new Promise(() => {}))().then((told) => (answer = told))
    await time.pass(2_000)
    expect(answer).to.equal(undefined)
    await time.pass(1_000)
    expect(answer).to.equal('the broker does not answer in time')
  })

  it('is the missing setting when no broker is named', async () => {
    expect(await createStreamCheck({ ...settings, Brokers: '' }, 'a-service')()).to.match(/set Stream__Brokers/)
  })

  it('is asked once by callers at the same time, and again when the answer is old', async () => {
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
    expect(calls).to.deep.equal({ opened: 3, described: 3, listed: 0, closed: 3 })
  })
})
