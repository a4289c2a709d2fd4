import { serviceNamed, services, sidecarOf } from '@orderflow/stack'
import type { Member } from './cluster.ts'
import { createRandom, type Random } from './load/random.ts'

/** Something that happens to the system, and for how long; times in milliseconds. */
export type Fault =
  | { kind: 'kill'; members: Member[]; ms: number }
  | { kind: 'freeze'; members: Member[]; ms: number }
  | { kind: 'lock'; store: string; ms: number }
  | { kind: 'full disk'; disk: 'state' | 'kafka'; ms: number }
  | { kind: 'restart all' }

/** One fault, or two of which the second begins while the first goes on; then a rest. */
export interface Step {
  faults: [Fault] | [Fault, Fault]
  /** How much later the second one begins. */
  apartMs: number
  restMs: number
}

/** What there is to break. */
export interface Targets {
  replicas: number
  /** Whether disks can be full here. */
  disks: boolean
  /** How long a frozen process stays so. */
  freezeMs: number
  /** How long an outsider holds a database. */
  lockMs: number
}

const processes: readonly Member[] = services.flatMap((service) => [service.name, sidecarOf(service)])

/**
 * Faults without end: each alone and, after every second one, a pair. All single ones come once before any comes again.
 * The same random numbers give the same steps.
 */
export function* schedule(random: Random, targets: Targets): Generator<Step> {
  for (;;) {
    for (const [index, fault] of random.shuffle(allFaults(random, targets)).entries()) {
      yield { faults: [fault], apartMs: 0, restMs: random.between(2_000, 8_000) }
      if (index % 2 === 0) continue
      yield { faults: pair(random, targets), apartMs: random.between(0, 3_000), restMs: random.between(2_000, 8_000) }
    }
  }
}

function allFaults(random: Random, targets: Targets): Fault[] {
  const all: Fault[] = [...pairable(random, targets), { kind: 'restart all' }]
  if (!targets.disks) return all
  const full = (disk: 'state' | 'kafka'): Fault => ({ kind: 'full disk', disk, ms: random.between(5_000, 12_000) })
  return [...all, full('state'), full('kafka')]
}

/** Faults that can go on at the same time as another of them. */
function pairable(random: Random, { replicas, freezeMs, lockMs }: Targets): Fault[] {
  const kill = (members: Member[]): Fault => ({ kind: 'kill', members, ms: random.between(0, 4_000) })
  const some = (name: Member) => someOf(random, name, replicas)
  return [
    kill(['kafka']),
    ...processes.map((name) => kill(some(name))),
    ...processes.map((name): Fault => ({ kind: 'freeze', members: some(name), ms: freezeMs })),
    ...services.map(({ name }): Fault => ({ kind: 'lock', store: name, ms: lockMs })),
  ]
}

/** One of the replicas, or all. */
function someOf(random: Random, name: Member, replicas: number): Member[] {
  const second: Member = `${name}-2`
  return replicas > 1 ? random.pick<Member[]>([[name], [second], [name, second]]) : [name]
}

function pair(random: Random, targets: Targets): [Fault, Fault] {
  for (;;) {
    const [one, other] = random.shuffle(pairable(random, targets))
    if (one && other && targetsOf(one).every((target) => !targetsOf(other).includes(target))) return [one, other]
  }
}

/** The database file of a service. */
const storeName = (service: string) => `${serviceNamed(service).role}.db`

const targetsOf = (fault: Fault): string[] => ('members' in fault ? fault.members : [fault.kind])

/** What a fault is about, without the replica and the duration. */
export function faultName(fault: Fault): string {
  switch (fault.kind) {
    case 'kill':
    case 'freeze':
      return `${fault.kind} ${fault.members[0]?.replace('-2', '')}`
    case 'lock':
      return `lock ${storeName(fault.store)}`
    case 'full disk':
      return `full disk of ${fault.disk}`
    case 'restart all':
      return 'restart all'
  }
}

/** The names of all faults that a schedule has. */
export const faultNames = (targets: Targets): string[] => allFaults(createRandom(), targets).map(faultName)

/** As it stands in the report. */
export function describeFault(fault: Fault): string {
  const seconds = 'ms' in fault ? ` ${(fault.ms / 1_000).toFixed(1)} s` : ''
  switch (fault.kind) {
    case 'kill':
    case 'freeze':
      return `${fault.kind} ${fault.members.join(' and ')}${seconds}`
    case 'lock':
      return `lock ${storeName(fault.store)}${seconds}`
    case 'full disk':
      return `full disk of ${fault.disk}${seconds}`
    case 'restart all':
      return 'restart all in order'
  }
}
