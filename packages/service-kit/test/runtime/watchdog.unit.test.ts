import { expect } from 'chai'
import {
  createWatchdog,
  type GroupReport,
  type Member,
  stalledAfterMs,
  watch,
} from '../../src/runtime/readiness/watchdog.ts'
import type { Consumer } from '../../src/stream/consuming/consumer.ts'
import { virtualTime } from '../support/virtual-time.ts'

const topic = 'in'
const here = '10.0.0.7'

const memberOf = (host: string, number = 1, partitions = ['in/0']): Member => ({
  id: `a-service-${number}-${host}`,
  clientId: `a-service-${number}`,
  clientHost: `/${host}`,
  partitions,
})
const waitingAt = (next: bigint, partition = 0, name = topic) => ({ topic: name, partition, next, lag: 3 })
const stuck: GroupReport = { state: 'Stable', members: [memberOf(here)], positions: [waitingAt(7n)] }
const reason = /^the sidecar has delivered nothing from in\/0 for 180 s, although it has unhandled records; restart/

describe('createWatchdog', () => {
  const time = virtualTime()
  let report: GroupReport | undefined
  let logged: unknown[][]
  let watchdog: ReturnType<typeof createWatchdog>

  beforeEach(() => {
    report = stuck
    logged = []
    watchdog = createWatchdog({
      async read() {
        if (!report) throw new Error('connect ECONNREFUSED')
        return report
      },
      addresses: () => ['127.0.0.1', here, 'fd00::7'],
      log: {
        error: (...line: unknown[]) => logged.push(['error', ...line]),
        info: (...line: unknown[]) => logged.push(['info', ...line]),
      },
    })
    void watch(watchdog)
  })

  const stalled = () => [...watchdog.stalled().values()]
  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 15) await time.pass(Math.min(left, 15) * 1_000)
  }
  const reading: Consumer['deliver'] = async (parts) => {
    for await (const _part of parts);
    return []
  }
  const delivery = (partition = 0, deliver = reading, of = topic) => {
    const entry = {
      entryId: '0',
      value: Buffer.from('{}'),
      metadata: { __partition: String(partition), __offset: '7' },
    }
    return watchdog.watched(of, deliver)([[entry]])
  }

  it('reports a subscription that delivers nothing for three minutes, and logs it once', async () => {
    expect(stalledAfterMs).to.equal(180_000)
    await pass(180)
    expect([stalled(), logged]).to.deep.equal([[], []])
    await pass(60)
    expect(stalled()).to.have.length(1)
    expect(stalled()[0]).to.match(reason)
    expect(logged).to.deep.equal([['error', { topic }, stalled()[0]]])
  })

  it('reports that the subscription works again after a delivery', async () => {
    await pass(240)
    await delivery()
    await pass(15)
    expect(stalled()).to.deep.equal([])
    expect(logged.at(-1)).to.deep.equal(['info', { topic }, 'the sidecar delivers events again'])
  })

  const steady: Record<string, (turn: number) => GroupReport> = {
    'an idle topic': () => ({ ...stuck, positions: [{ ...waitingAt(7n), lag: 0 }] }),
    'a group whose position moves': (turn) => ({ ...stuck, positions: [waitingAt(BigInt(turn >> 3))] }),
    'a partition whose member changes': (turn) => ({ ...stuck, members: [memberOf(here, turn >> 3)] }),
    'a partition of another replica': () => ({ ...stuck, members: [memberOf('10.0.0.8'), memberOf(here, 1, [])] }),
    'a partition of another replica behind the same unknown address': () => ({
      ...stuck,
      members: [memberOf('203.0.113.1'), memberOf('203.0.113.1', 1, [])],
    }),
  }
  for (const [what, reportAt] of Object.entries(steady)) {
    it(`reports no stall for ${what}`, async () => {
      for (let turn = 0; turn < 40; turn += 1) {
        report = reportAt(turn)
        await pass(15)
        expect(stalled()).to.deep.equal([])
      }
    })
  }

  const own: Record<string, readonly Member[]> = {
    'of a member at an IPv6 address': [memberOf('fd00:0:0:0:0:0:0:7'), memberOf('10.0.0.8', 1, [])],
    'of the only replica, whose address Kafka does not see': [memberOf('203.0.113.1'), memberOf('203.0.113.1', 2, [])],
    'without a member, although the group has members': [memberOf('10.0.0.8', 1, [])],
    'of a group without members': [],
  }
  for (const [what, members] of Object.entries(own)) {
    it(`reports a partition ${what}`, async () => {
      report = { ...stuck, state: members.length > 0 ? 'Stable' : 'Empty', members }
      await pass(240)
      expect(stalled()).to.have.length(1)
    })
  }

  it('reports no stall for replicas that reach Kafka through a proxy on the broker’s machine', async () => {
    const members = [memberOf('127.0.0.1'), memberOf('127.0.0.1', 1, [])]
    const log = { error: () => {}, info: () => {} }
    const proxied = createWatchdog({ read: async () => ({ ...stuck, members }), log })
    for (let turn = 0; turn < 20; turn += 1) await proxied.check()
    expect([...proxied.stalled()]).to.deep.equal([])
  })

  it('reports only the partition that stalls, although its member and another member deliver from other partitions', async () => {
    report = {
      ...stuck,
      members: [memberOf(here, 1, ['other/0']), memberOf(here, 2, ['in/1', 'in/0'])],
      positions: [waitingAt(7n), waitingAt(7n, 1), waitingAt(2n, 0, 'other')],
    }
    for (let turn = 0; turn < 16; turn += 1) {
      await Promise.all([delivery(1), delivery(0, reading, 'other')])
      await pass(15)
    }
    expect([...watchdog.stalled().keys()]).to.deep.equal([topic])
    expect(stalled()[0]).to.match(reason)
  })

  it('accepts a partition whose member repeats a failing delivery from another partition, as in an outage', async () => {
    report = { ...stuck, members: [memberOf(here, 1, ['in/0', 'in/1'])], positions: [waitingAt(7n), waitingAt(4n, 1)] }
    const failing: Consumer['deliver'] = async (parts) => {
      await reading(parts)
      return [{ entryId: '0', status: 'RETRY' }]
    }
    for (let turn = 0; turn < 40; turn += 1) {
      await delivery(1, failing)
      await pass(15)
    }
    expect(stalled()).to.deep.equal([])
  })

  it('accepts a record that fails and is delivered again', async () => {
    for (let turn = 0; turn < 40; turn += 1) {
      await delivery(0, (parts) => reading(parts).then(() => Promise.reject(new Error('a bug')))).catch(() => {})
      await pass(15)
    }
    expect(stalled()).to.deep.equal([])
  })

  describe('during a delivery from another partition of the same member', () => {
    let end: () => void
    const hanging: Consumer['deliver'] = (parts) =>
      reading(parts).then(() => new Promise((resolve) => (end = () => resolve([]))))
    beforeEach(() => {
      report = { ...stuck, members: [memberOf(here, 1, ['in/0', 'in/1'])], positions: [waitingAt(7n)] }
    })

    it('leaves out the minute that a delivery may take', async () => {
      const slow = delivery(1, hanging)
      await pass(75)
      end()
      await slow
      await pass(165)
      expect(stalled()).to.deep.equal([])
      await pass(60)
      expect(stalled()).to.have.length(1)
    })

    it('reports the partition if the delivery does not end', async () => {
      void delivery(1, hanging)
      await pass(300)
      expect(stalled()).to.have.length(1)
      expect(stalled()[0]).to.match(reason)
    })

    it('reports the delivery if it does not end', async () => {
      report = { ...stuck, positions: [waitingAt(4n, 1)] }
      void delivery(1, hanging)
      await pass(240)
      expect(stalled()).to.deep.equal([
        'a delivery from in/1 has not ended for 180 s; restart the service and its sidecar',
      ])
    })
  })

  it('accepts ten minutes without a broker, and then begins again', async () => {
    await pass(150)
    report = undefined
    await pass(600)
    report = stuck
    await pass(180)
    expect(stalled()).to.deep.equal([])
    await pass(60)
    expect(stalled()).to.have.length(1)
    report = undefined
    await pass(15)
    expect(stalled()).to.deep.equal([])
  })

  for (const state of ['PreparingRebalance', 'CompletingRebalance']) {
    it(`begins again after a rebalance (${state})`, async () => {
      await pass(150)
      report = { ...stuck, state }
      await pass(15)
      report = stuck
      await pass(180)
      expect(stalled()).to.deep.equal([])
    })
  }

  it('counts a pause of the process as one check', async () => {
    await pass(30)
    time.passAtOnce(600_000)
    await pass(15)
    expect(stalled()).to.deep.equal([])
  })
})
