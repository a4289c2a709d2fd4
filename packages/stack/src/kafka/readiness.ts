import {
  extentsOf,
  type KafkaConnection,
  metadataOf,
  protocolErrors,
  requestOf,
  rootMessage,
  withAdmin,
} from '@orderflow/kafka-log'
import type { Admin, Group } from '@platformatic/kafka'
import { doesConsume, serviceNamed, services } from '../application/services.ts'
import { withRetries } from '../base/run-tool.ts'
import { partitionCounts, requireAllowed } from './topics.ts'

/** The condition that is not met yet. */
export type Missing = string | undefined

/**
 * Checks that the leader of every partition answers. A broker that has just started reports its previous leaders, but refuses records for a
 * while.
 * @throws {CliError} `denied` if Kafka denies this user a request
 */
export async function kafkaMissing(kafka: KafkaConnection): Promise<Missing> {
  let missing = 'the broker does not answer yet'
  try {
    await withAdmin(kafka, async (admin) => {
      const names = await admin.listTopics()
      missing = 'the partitions have no leader yet'
      await extentsOf(admin, names)
    })
    return undefined
  } catch (error) {
    if (protocolErrors(error).some((name) => name.endsWith('AUTHORIZATION_FAILED'))) requireAllowed(error)
    return missing
  }
}

/**
 * Checks that all brokers belong to the cluster, that each one has all records of its partitions, and that each one votes as a controller. Until then,
 * the loss of another broker could stop Kafka, and the loss of its disk could lose records.
 */
export async function brokersMissing(kafka: KafkaConnection, count: number): Promise<Missing> {
  try {
    return await withAdmin(kafka, async (admin) => {
      const { brokers, topics } = await metadataOf(admin, null)
      if (brokers.length < count) return `${brokers.length} of ${count} brokers belong to the cluster`
      const partitions = topics.flatMap((topic) => topic.partitions)
      const behind = partitions.filter(({ replicaNodes, isrNodes }) => isrNodes.length < replicaNodes.length).length
      if (behind > 0) return `replicas of ${behind} partitions lack records`
      const voters = await votersOf(admin)
      return voters < count ? `${voters} of ${count} controllers vote` : undefined
    })
  } catch (error) {
    return `the brokers cannot be read: ${(error as Error).message}`
  }
}

interface Quorum {
  topics: { partitions: { currentVoters: { lastCaughtUpTimestamp: bigint }[] }[] }[]
}

/** Returns the number of controllers that vote and have read the newest metadata in the last second. A lost controller stays a voter for a while. */
async function votersOf(admin: Admin): Promise<number> {
  const metadata = { topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }
  const { topics } = await requestOf<Quorum>(admin, 'DescribeQuorum', [metadata])
  const times = (topics[0]?.partitions[0]?.currentVoters ?? []).map(
    ({ lastCaughtUpTimestamp }) => lastCaughtUpTimestamp,
  )
  const newest = times.reduce((last, time) => (time > last ? time : last), 0n)
  return times.filter((time) => newest - time < 1_000n).length
}

export async function serviceMissing(name: string, port: number): Promise<Missing> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) })
    const body = await response.text()
    return response.status === 200 ? undefined : `${name} /readyz answers ${response.status} ${body}`.trim()
  } catch (error) {
    return `${name} /readyz: ${(error as Error).name === 'TimeoutError' ? 'no answer within 5 s' : rootMessage(error)}`
  }
}

/**
 * Checks that a consumer group is stable, and that live members have all partitions. The health check of a sidecar ignores its consumer group.
 * @param stale members of killed sidecars, which keep their partitions until their session ends
 */
export async function groupMissing(kafka: KafkaConnection, name: string, stale: ReadonlySet<string>): Promise<Missing> {
  const service = serviceNamed(name)
  if (!doesConsume(service)) return undefined
  try {
    return await withAdmin(kafka, async (admin) => {
      const partitions = await partitionCounts(admin, Object.keys(service.consumes))
      const groups = await admin.describeGroups({ groups: [name] })
      return unassigned(name, groups.get(name), partitions, stale)
    })
  } catch (error) {
    return `consumer group ${name} cannot be read: ${(error as Error).message}`
  }
}

function unassigned(
  name: string,
  group: Group | undefined,
  partitions: ReadonlyMap<string, number>,
  stale: ReadonlySet<string>,
): Missing {
  if (group?.state !== 'Stable') return `consumer group ${name} is ${group?.state ?? 'missing'}`
  const members = [...group.members.values()]
  if (members.some((member) => stale.has(member.id)))
    return `consumer group ${name} waits for a killed member to time out`
  for (const [topic, count] of partitions) {
    const assigned = members.flatMap((member) => member.assignments?.get(topic)?.partitions ?? [])
    if (new Set(assigned).size < count) {
      return `consumer group ${name} has ${assigned.length} of ${count} partitions of ${topic}`
    }
  }
  return undefined
}

/** @throws {CliError} `not-ready` with the missing condition after a minute */
export async function untilNothingMissing(what: string, probe: () => Promise<Missing>): Promise<void> {
  await withRetries(what, async () => {
    const missing = await probe()
    if (missing) throw new Error(missing)
  })
}

export async function untilAllConsume(kafka: KafkaConnection, onProgress: (line: string) => void): Promise<void> {
  for (const { name } of services.filter(doesConsume)) {
    await untilNothingMissing(name, () => groupMissing(kafka, name, new Set()))
    onProgress(`${name}: consuming`)
  }
}

export async function membersMissing(kafka: KafkaConnection, name: string, count: number): Promise<Missing> {
  // The request fails until the first member has joined.
  const members = await groupMembers(kafka, [name]).catch(() => new Set())
  if (members.size !== count) return `consumer group ${name} has ${members.size} of ${count} members`
  return await groupMissing(kafka, name, new Set())
}

export async function groupMembers(kafka: KafkaConnection, names: string[]): Promise<Set<string>> {
  const groups = await withAdmin(kafka, (admin) => admin.describeGroups({ groups: names }))
  return new Set([...groups.values()].flatMap((group) => [...group.members.keys()]))
}
