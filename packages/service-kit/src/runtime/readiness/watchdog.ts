import { BlockList, isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Position, positionsOf, requireConnection, type StreamSettings, withAdmin } from '@orderflow/kafka-log'
import type { Admin } from '@platformatic/kafka'
import type { Consumer } from '../../stream/consuming/consumer.ts'
import type { Logger } from '../../telemetry/log.ts'

const intervalMs = 15_000
/**
 * The number of checks after which a subscription has stalled. Together they take three minutes, which is longer than the sum of three times. The longest
 * delivery takes 60 s (components/resiliency.yaml). The longest rebalance takes 60 s, the default of Dapr's Kafka client. After 30 s, this client
 * replaces a hung connection.
 */
const maxChecks = 12
export const stalledAfterMs = maxChecks * intervalMs
/** The number of checks in the 60 s after which the sidecar ends a delivery (components/resiliency.yaml). */
const maxHeld = 4

/** A member of a consumer group: one Kafka component of a sidecar. */
export interface Member {
  id: string
  clientId: string
  /** The address from which the member is connected, as Kafka reports it: `/10.0.0.7`. */
  clientHost: string
  /** The assigned partitions, such as `a-topic/2`. */
  partitions: readonly string[]
}

/** A consumer group at one moment. */
export interface GroupReport {
  state: string
  members: readonly Member[]
  positions: readonly Pick<Position, 'topic' | 'partition' | 'next' | 'lag'>[]
}

export interface WatchdogOptions {
  /** Fails if Kafka does not answer. */
  read: () => Promise<GroupReport>
  /** The addresses of this machine, container or pod, which the sidecar shares. */
  addresses?: () => readonly string[]
  log: Pick<Logger, 'error' | 'info'>
}

export type Watchdog = ReturnType<typeof createWatchdog>

/** The deliveries of a partition. */
interface Deliveries {
  running: number
  ended: number
  /** The number of deliveries without a record that has to be delivered again. */
  succeeded: number
}

/** The state of an unhandled partition. While `state` stays the same, nothing happens to the partition. */
interface Waiting {
  topic: string
  state: string
  /** The ends of deliveries from the other partitions of the same member. */
  others: Pick<Deliveries, 'ended' | 'succeeded'>
  checks: number
  /** The number of checks that were left out because of the member's running delivery. */
  held: number
}

/** Finds subscriptions that the sidecar has silently stopped serving (docs/adr/0047). */
export function createWatchdog({ read, addresses = ownAddresses, log }: WatchdogOptions) {
  const deliveries = new Map<string, Deliveries>()
  let waiting = new Map<string, Waiting>()
  let stalled: ReadonlyMap<string, string> = new Map()

  /** Counts a delivery, which has records of only one partition. */
  function begin(partition: string): Deliveries {
    const counts = deliveriesOf(partition)
    deliveries.set(partition, counts)
    counts.running += 1
    return counts
  }

  const deliveriesOf = (partition: string): Deliveries =>
    deliveries.get(partition) ?? { running: 0, ended: 0, succeeded: 0 }

  /**
   * Counts a check since which a partition has not changed. The member makes one delivery at a time, so it may have been unable to deliver from this
   * partition. Such checks are left out: if all deliveries from other partitions failed and were repeated, or while one of them is running. A delivery
   * may run for `maxHeld` checks.
   */
  function countedAgain(before: Waiting, others: Deliveries): Pick<Waiting, 'checks' | 'held'> {
    const { checks, held } = before
    const isSame = others.ended === before.others.ended
    if (isSame && others.running > 0 && held < maxHeld) return { checks, held: held + 1 }
    const isFailing = !isSame && others.succeeded === before.others.succeeded
    return { checks: isFailing ? checks : checks + 1, held: isSame ? held : 0 }
  }

  /** Returns the states of the partitions that have unhandled records, and that only this replica could read. */
  function waitingIn({ state, members, positions }: GroupReport): Map<string, Waiting> {
    // A rebalance stops all members, so it is no sign of a stalled subscription.
    if (/Rebalance/.test(state)) return new Map()
    const isHere = addressTest(addresses())
    const found = new Map<string, Waiting>()
    for (const { topic, partition, next, lag } of positions) {
      const key = `${topic}/${partition}`
      const owner = members.find(({ partitions }) => partitions.includes(key))
      const isOwn = !owner || isHere(owner.clientHost) || isOnlyReplica(owner, members)
      if (lag === 0 || !isOwn) continue
      const state = [next, owner?.id, deliveriesOf(key).ended].join()
      const others = sumOf((owner?.partitions ?? []).filter((other) => other !== key).map(deliveriesOf))
      const before = waiting.get(key)
      const counted = before?.state === state ? countedAgain(before, others) : { checks: 0, held: 0 }
      found.set(key, { topic, state, others, ...counted })
    }
    return found
  }

  function reasonFor(partition: string): string {
    const seconds = stalledAfterMs / 1_000
    const what =
      deliveriesOf(partition).running > 0
        ? `a delivery from ${partition} has not ended for ${seconds} s`
        : `the sidecar has delivered nothing from ${partition} for ${seconds} s, although it has unhandled records`
    return `${what}; restart the service and its sidecar`
  }

  function report(now: Map<string, string>): void {
    for (const [topic, reason] of now) if (!stalled.has(topic)) log.error({ topic }, reason)
    for (const topic of stalled.keys()) if (!now.has(topic)) log.info({ topic }, 'the sidecar delivers events again')
    stalled = now
  }

  return {
    /** Returns a function that delivers, and counts the deliveries of a topic. */
    watched:
      (topic: string, deliver: Consumer['deliver']): Consumer['deliver'] =>
      async (parts) => {
        let counts: Deliveries | undefined
        async function* counted() {
          for await (const part of parts) {
            counts ??= begin(`${topic}/${part[0]?.metadata.__partition}`)
            yield part
          }
        }
        try {
          const statuses = await deliver(counted())
          if (counts && statuses.every(({ status }) => status === 'SUCCESS')) counts.succeeded += 1
          return statuses
        } finally {
          if (counts) {
            counts.running -= 1
            counts.ended += 1
          }
        }
      },

    /** Compares the group with the previous check. It never fails. */
    async check(): Promise<void> {
      // Without an answer of Kafka, the time begins again.
      waiting = await read().then(waitingIn, () => new Map())
      const partitions = [...waiting].filter(([, { checks }]) => checks >= maxChecks)
      report(new Map(partitions.map(([partition, { topic }]) => [topic, reasonFor(partition)])))
    },

    /** Returns the reason for each topic whose subscription has stalled. */
    stalled: () => stalled,
  }
}

function sumOf(all: Deliveries[]): Deliveries {
  const sum = (name: keyof Deliveries) => all.reduce((total, counts) => total + counts[name], 0)
  return { running: sum('running'), ended: sum('ended'), succeeded: sum('succeeded') }
}

/** Checks until the process ends. */
export async function watch({ check }: Pick<Watchdog, 'check'>): Promise<never> {
  for (;;) {
    await delay(intervalMs, undefined, { ref: false })
    await check()
  }
}

/** Returns true if only one replica has members, because the replicas of a service have the same client ids (components/kafka.yaml). */
const isOnlyReplica = (owner: Member, members: readonly Member[]): boolean =>
  members.filter(({ clientId }) => clientId === owner.clientId).length === 1

function addressTest(addresses: readonly string[]): (clientHost: string) => boolean {
  const list = new BlockList()
  for (const address of addresses) list.addAddress(address, familyOf(address))
  return (clientHost) => {
    const address = clientHost.slice(clientHost.indexOf('/') + 1)
    return isIP(address) !== 0 && list.check(address, familyOf(address))
  }
}

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Returns the addresses without loopback, because Kafka sees all clients at 127.0.0.1 if they use a proxy on its machine. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
  return all.filter(({ internal }) => !internal).map(({ address }) => address)
}

const client = { clientId: 'orderflow-watchdog', connectTimeout: 1_000, timeout: 3_000, requestTimeout: 3_000 }

/** Returns a function that asks Kafka about a group and its positions. It needs only rights that the service has. */
export const groupReader = (settings: StreamSettings, group: string, topics: readonly string[]) => () =>
  withAdmin(requireConnection(settings), (admin) => readGroup(admin, group, topics), client)

async function readGroup(admin: Admin, name: string, topics: readonly string[]): Promise<GroupReport> {
  const positions = await positionsOf(admin, new Map([[name, topics]]))
  const group = (await admin.describeGroups({ groups: [name] })).get(name)
  if (!group) throw new Error(`Kafka does not describe group ${name}`)
  const members = [...group.members.values()].map(({ id, clientId, clientHost, assignments = new Map() }) => ({
    ...{ id, clientId, clientHost },
    partitions: [...assignments].flatMap(([topic, { partitions }]) =>
      partitions.map((partition: number) => `${topic}/${partition}`),
    ),
  }))
  return { state: group.state, members, positions }
}
