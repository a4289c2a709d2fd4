import { brokerNames, sidecarOf, storedServices } from '@orderflow/stack'
import type { Servers } from '@orderflow/stack/internals'
import type { Member } from '../cluster/cluster.ts'
import type { Server } from '../cluster/network.ts'
import { createRandom, type Random } from '../load/random.ts'

export type Fault =
  | { kind: 'kill'; members: Member[]; ms: number }
  | { kind: 'freeze'; members: Member[]; ms: number }
  | { kind: 'restart'; member: Member }
  | { kind: 'lose disk'; broker: Member; ms: number }
  | { kind: 'lock'; store: string; ms: number }
  | { kind: 'full disk'; disk: 'state' | 'kafka'; ms: number }
  | { kind: 'clock'; members: Member[]; seconds: number; ms: number }
  | { kind: 'restart all' }
  | NetworkFault

/** A fault of the network between replicas and a server. */
export interface NetworkFault {
  kind: 'cut' | 'half-open' | 'slow' | 'cut off'
  server: Server
  replicas: Member[]
  ms: number
}

/** One fault, or several that overlap, and then a pause. */
export interface Step {
  faults: [Fault, ...Fault[]]
  /** The time between the beginnings of two faults. */
  apartMs: number
  restMs: number
}

export interface Targets extends Servers {
  replicas: number
  disks: boolean
  clocks: boolean
  paymentWithinMs: number
  freezeMs: number
  lockMs: number
}

const processes: readonly Member[] = storedServices.flatMap((service) => [service.name, sidecarOf(service)])

/**
 * Generates rounds of steps without end. Each round has each single fault once, and a pair of faults after every second single fault. It begins with
 * orders that expire while the processes fail that let them expire.
 */
export function* schedule(random: Random, targets: Targets): Generator<Step> {
  for (;;) {
    yield expiries(random, targets)
    for (const [index, fault] of random.shuffle(allFaults(random, targets)).entries()) {
      yield { faults: [fault], apartMs: 0, restMs: random.between(2_000, 8_000) }
      if (index % 2 === 0) continue
      yield { faults: pair(random, targets), apartMs: random.between(0, 3_000), restMs: random.between(2_000, 8_000) }
    }
  }
}

function expiries(random: Random, targets: Targets): Step {
  const { replicas, paymentWithinMs, clocks } = targets
  const kill = (members: Member[], ms: number): Fault => ({ kind: 'kill', members, ms })
  return {
    faults: [
      kill(replicasOf('payment-service', replicas), paymentWithinMs + random.between(15_000, 25_000)),
      kill(someOf(random, 'order-service', replicas), random.between(0, 4_000)),
      ...(clocks ? [clockFault(random, someOf(random, 'order-service', replicas))] : []),
    ],
    apartMs: random.between(0.3 * paymentWithinMs, 0.6 * paymentWithinMs),
    restMs: random.between(2_000, 8_000),
  }
}

/** The clock jumps by up to ten minutes, and later back. */
function clockFault(random: Random, members: Member[]): Fault {
  const seconds = random.pick([-1, 1]) * random.between(60, 600)
  return { kind: 'clock', members, seconds, ms: random.between(5_000, 20_000) }
}

function allFaults(random: Random, targets: Targets): Fault[] {
  const all: Fault[] = [...pairable(random, targets), { kind: 'restart all' }]
  if (!targets.disks) return all
  const full = (disk: 'state' | 'kafka'): Fault => ({ kind: 'full disk', disk, ms: random.between(5_000, 12_000) })
  return [...all, full('state'), full('kafka')]
}

/** Returns the faults that may overlap with another fault. */
function pairable(random: Random, { replicas, store, brokers, clocks, freezeMs, lockMs }: Targets): Fault[] {
  const kill = (members: Member[]): Fault => ({ kind: 'kill', members, ms: random.between(0, 4_000) })
  const some = (name: Member) => someOf(random, name, replicas)
  return [
    ...brokerNames({ brokers }).map((name) => kill([name])),
    ...(brokers > 1 ? brokerNames({ brokers }).map((name) => loseDisk(random, name)) : []),
    ...processes.map((name) => kill(some(name))),
    ...processes.map((name): Fault => ({ kind: 'freeze', members: some(name), ms: freezeMs })),
    ...storedServices.map(({ name }): Fault => ({ kind: 'lock', store: name, ms: lockMs })),
    cutOff(random, replicas, 'kafka'),
    ...(clocks ? storedServices.map(({ name }) => clockFault(random, some(name))) : []),
    ...(store === 'sqlite' ? [] : serverFaults(random, replicas)),
  ]
}

function serverFaults(random: Random, replicas: number): Fault[] {
  const all = storedServices.flatMap(({ name }) => replicasOf(name, replicas))
  const some = () => random.pick([all, ...storedServices.map(({ name }) => someOf(random, name, replicas))])
  const between = (kind: NetworkFault['kind'], ms: number): Fault => ({ kind, server: 'store', replicas: some(), ms })
  return [
    { kind: 'kill', members: ['postgresql'], ms: random.between(0, 4_000) },
    { kind: 'restart', member: 'postgresql' },
    between('cut', random.between(1_000, 5_000)),
    between('half-open', outage(random)),
    between('slow', outage(random)),
    cutOff(random, replicas, 'store'),
  ]
}

/** The broker returns at once, or after its leaderships have moved to the others. */
const loseDisk = (random: Random, broker: Member): Fault => ({
  kind: 'lose disk',
  broker,
  ms: random.between(0, 10_000),
})

/** Returns a duration, which may be shorter or longer than the time for which a request waits for its answer. */
const outage = (random: Random): number => random.between(4_000, 25_000)

/** Disconnects a single replica. */
function cutOff(random: Random, replicas: number, server: Server): Fault {
  const replica = random.pick(storedServices.flatMap(({ name }) => replicasOf(name, replicas)))
  return { kind: 'cut off', server, replicas: [replica], ms: outage(random) }
}

const replicasOf = (name: Member, replicas: number): Member[] => (replicas > 1 ? [name, `${name}-2`] : [name])

function someOf(random: Random, name: Member, replicas: number): Member[] {
  const all = replicasOf(name, replicas)
  return random.pick([...all.map((one) => [one]), all])
}

function pair(random: Random, targets: Targets): [Fault, Fault] {
  for (;;) {
    const [one, other] = random.shuffle(pairable(random, targets))
    if (one && other && targetsOf(one).every((target) => !targetsOf(other).includes(target))) return [one, other]
  }
}

/** Returns the targets of a fault. Faults with a common target cannot overlap. */
function targetsOf(fault: Fault): string[] {
  switch (fault.kind) {
    case 'kill':
    case 'freeze':
    case 'clock':
      // Kafka survives the loss of one broker at a time.
      return fault.members.map((member) => (isBroker(member) ? 'a broker' : member))
    case 'lose disk':
      return ['a broker']
    case 'restart':
      return [fault.member]
    case 'lock':
      // A client of the server holds the lock, so the lock ends if the server is killed.
      return [fault.kind, 'postgresql']
    case 'cut':
    case 'half-open':
    case 'slow':
    case 'cut off':
      return fault.replicas.map((replica) => `${replica} to ${fault.server}`)
    default:
      return [fault.kind]
  }
}

const isBroker = (member: Member) => brokerNames({ brokers: 3 }).includes(member)

const nameOf = (member: Member) => (isBroker(member) ? member : member.replace('-2', ''))

/** Returns the kind and target of a fault. */
export function faultName(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
    case 'freeze':
      return `${fault.kind} ${nameOf(fault.members[0] ?? '')}`
    case 'clock':
      return `clock of ${nameOf(fault.members[0] ?? '')}`
    case 'restart':
      return `restart ${fault.member}`
    case 'lose disk':
      return `lose disk of ${fault.broker}`
    case 'lock':
      return `lock store of ${fault.store}`
    case 'cut':
    case 'half-open':
    case 'slow':
    case 'cut off':
      return `${fault.kind} ${fault.server}`
    case 'full disk':
      return `full disk of ${fault.disk}`
    case 'restart all':
      return 'restart all'
  }
}

export const faultNames = (targets: Targets): string[] => allFaults(createRandom(), targets).map(faultName)

export function describeFault(fault: Fault): string {
  const seconds = 'ms' in fault ? ` ${(fault.ms / 1_000).toFixed(1)} s` : ''
  switch (fault.kind) {
    case 'kill':
    case 'freeze':
      return `${fault.kind} ${fault.members.join(' and ')}${seconds}`
    case 'clock':
      return `clock of ${fault.members.join(' and ')} jumps by ${fault.seconds} s for${seconds}`
    case 'cut':
    case 'half-open':
    case 'slow':
    case 'cut off':
      return `${faultName(fault)} from ${fault.replicas.join(' and ')}${seconds}`
    case 'restart all':
      return 'restart all in order'
    default:
      return `${faultName(fault)}${seconds}`
  }
}
