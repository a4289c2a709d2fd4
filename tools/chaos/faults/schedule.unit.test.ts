import { sidecarOf, storedServices } from '@orderflow/stack'
import { expect } from 'chai'
import { createRandom } from '../load/random.ts'
import { describeFault, faultName, faultNames, type Step, schedule, type Targets } from './schedule.ts'

const targets: Targets = {
  ...{ replicas: 2, store: 'sqlite', brokers: 1, disks: true, clocks: true },
  ...{ paymentWithinMs: 30_000, freezeMs: 30_000, lockMs: 10_000 },
}
function take(count: number, seed: string, changes: Partial<Targets> = {}): Step[] {
  const steps = schedule(createRandom(seed), { ...targets, ...changes })
  return Array.from({ length: count }, () => steps.next().value)
}
const texts = (steps: Step[]) => steps.map(({ faults }) => faults.map(describeFault).join(' and '))
const alone = (steps: Step[]) => steps.filter(({ faults }) => faults.length === 1).map(({ faults: [fault] }) => fault)

const processes = storedServices.flatMap((service) => [service.name, sidecarOf(service)])
const every = [
  ...processes.flatMap((name) => [`freeze ${name}`, `kill ${name}`]),
  ...storedServices.flatMap(({ name }) => [`lock store of ${name}`, `clock of ${name}`]),
  'cut off kafka',
  'full disk of kafka',
  'full disk of state',
  'kill kafka',
  'restart all',
].sort()

const ofServer = [
  'cut off store',
  'cut store',
  'half-open store',
  'kill postgresql',
  'restart postgresql',
  'slow store',
]

describe('the schedule of faults', () => {
  it('stays the same for the same seed, and differs for another seed', () => {
    expect(take(60, 'a')).to.deep.equal(take(60, 'a'))
    expect(texts(take(60, 'a'))).not.to.deep.equal(texts(take(60, 'b')))
  })

  it('contains every single fault once before any of them occurs again, with pairs of faults in between', () => {
    const pairsInARound = Math.floor(every.length / 2)
    const steps = take(2 * (1 + every.length + pairsInARound), 'a')
    const [first, second] = [alone(steps).slice(0, every.length), alone(steps).slice(every.length)]
    expect(first.map(faultName).sort()).to.deep.equal(every)
    expect(second.map(faultName).sort()).to.deep.equal(every)
    expect(steps.filter(({ faults }) => faults.length === 2)).to.have.length(2 * pairsInARound)
    expect(faultNames(targets).sort()).to.deep.equal(every)
  })

  it('begins each round with orders that expire, while order-service is killed and its clock jumps', () => {
    const beginnings = take(400, 'a').filter(({ faults }) => faults.length > 2)
    expect(beginnings.length).to.be.above(10)
    const jumps = new Set<number>()
    for (const { faults, apartMs } of beginnings) {
      expect(faults.map(faultName)).to.deep.equal([
        'kill payment-service',
        'kill order-service',
        'clock of order-service',
      ])
      const [outage] = faults as unknown as [{ members: string[]; ms: number }]
      expect(outage.members).to.deep.equal(['payment-service', 'payment-service-2'])
      expect(outage.ms).to.be.above(targets.paymentWithinMs)
      expect(2 * apartMs).to.be.below(outage.ms)
      for (const fault of faults) if ('seconds' in fault) jumps.add(Math.sign(fault.seconds))
    }
    expect(jumps).to.deep.equal(new Set([-1, 1]))
    expect(take(1, 'a', { clocks: false })[0]?.faults).to.have.length(2)
  })

  it('never uses the same process in both faults of a pair', () => {
    for (const { faults } of take(600, 'a').filter(({ faults }) => faults.length === 2)) {
      const members = faults.flatMap((fault) => ('members' in fault ? fault.members : []))
      expect(new Set(members).size).to.equal(members.length)
    }
  })

  it('kills the first replica, the second replica, or both', () => {
    const killed = alone(take(300, 'a')).filter((fault) => faultName(fault) === 'kill payment-sidecar')
    const choices = new Set(killed.map((fault) => ('members' in fault ? fault.members.join() : '')))
    expect(choices).to.deep.equal(
      new Set(['payment-sidecar', 'payment-sidecar-2', 'payment-sidecar,payment-sidecar-2']),
    )
  })

  it('includes the server of a store and the network to it', () => {
    const networked = { ...targets, store: 'postgresql' } as const
    expect(faultNames(networked).sort()).to.deep.equal([...every, ...ofServer].sort())
    const steps = take(300, 'a', networked)
    expect(new Set(steps.flatMap(({ faults }) => faults.map(faultName)))).to.deep.equal(
      new Set([...every, ...ofServer]),
    )
  })

  it('disconnects only single replicas, but disturbs the network of one replica, of a service’s replicas, or of all replicas', () => {
    const steps = alone(take(1_000, 'a', { store: 'postgresql' }))
    const replicas = (name: string) =>
      new Set(
        steps.flatMap((fault) => (faultName(fault) === name && 'replicas' in fault ? [fault.replicas.join()] : [])),
      )
    const each = storedServices.flatMap(({ name }) => [name, `${name}-2`])
    const both = storedServices.map(({ name }) => `${name},${name}-2`)
    expect(replicas('cut off store')).to.deep.equal(new Set(each))
    expect(replicas('cut off kafka')).to.deep.equal(new Set(each))
    expect(replicas('half-open store')).to.deep.equal(new Set([...each, ...both, each.join()]))
  })

  it('never combines faults that affect each other: two faults of one network, or a lock and the kill of its server', () => {
    for (const { faults } of take(2_000, 'a', { store: 'postgresql' })) {
      const links = faults.flatMap((fault) =>
        'replicas' in fault ? fault.replicas.map((name) => `${name} ${fault.server}`) : [],
      )
      expect(new Set(links).size).to.equal(links.length)
      const names = faults.map(faultName).join()
      expect(/\block/.test(names) && /postgresql/.test(names), names).to.equal(false)
    }
  })

  it('kills each of three brokers and deletes its log, and never affects two brokers at once', () => {
    const replicated = { ...targets, brokers: 3 } as const
    const brokers = ['kafka', 'kafka-2', 'kafka-3']
    const names = faultNames(replicated)
    expect(names).to.include.members(brokers.flatMap((name) => [`kill ${name}`, `lose disk of ${name}`]))
    for (const { faults } of take(2_000, 'a', replicated)) {
      const affected = faults.map(faultName).filter((name) => /^(kill|lose disk of) kafka/.test(name))
      expect(affected.length, affected.join()).to.be.at.most(1)
    }
  })

  it('uses only available replicas, disks and servers', () => {
    const steps = take(300, 'a', { replicas: 1, disks: false, clocks: false })
    const all = steps.flatMap(({ faults }) => faults)
    expect(new Set(all.map(faultName))).to.deep.equal(new Set(every.filter((fault) => !/^(full|clock)/.test(fault))))
    expect(all.flatMap((fault) => ('members' in fault ? fault.members : [])).join()).not.to.contain('-2')
  })
})
