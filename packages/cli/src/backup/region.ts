import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { positionsOf } from '@orderflow/service-kit/positions'
import type { Admin } from '@platformatic/kafka'
import { changeTopics } from '../kafka/topic-settings.ts'
import { consumedTopics, ensureTopics, type TopicSpec, withAdmin } from '../kafka/topics.ts'
import { commitPositions, requireStopped } from './groups.ts'

// A region is passive while MirrorMaker copies the log of another region to its Kafka, and no service runs. It is active while its services run.

const timeSetting = 'message.timestamp.type'

/**
 * Creates missing topics for MirrorMaker. Copied records keep their times, because ids of failed records derive from these times. Returns a warning
 * for each other wrong setting.
 * @throws {CliError} `still-running` if a service runs
 */
export async function makePassive(kafka: KafkaConnection, specs: readonly TopicSpec[]): Promise<string[]> {
  await requireServicesStopped(kafka)
  const timed = specs.filter(({ configs }) => timeSetting in configs).map(({ name }) => name)
  const passive = specs.map((spec) =>
    timed.includes(spec.name) ? { ...spec, configs: { ...spec.configs, [timeSetting]: 'CreateTime' } } : spec,
  )
  await ensureTopics(kafka, passive)
  await changeTopics(kafka, new Map(timed.map((name) => [name, { [timeSetting]: 'CreateTime' }])))
  return await ensureTopics(kafka, passive)
}

/**
 * Prepares a passive region for the start of its services. The brokers set the times of new records again, and consumer groups go back in time.
 *
 * MirrorMaker copies partitions independently. So a group's position may be behind an event, although the service's answers to this event were not
 * copied. Therefore the services handle the last events again. This has no effect on events whose answers were copied.
 * @param backMs the time before the newest record. It must be longer than the delay of the slowest copied partition
 * @returns a line for each group
 * @throws {CliError} `still-running` if a service runs
 */
export async function makeActive(
  kafka: KafkaConnection,
  specs: readonly TopicSpec[],
  backMs: number,
): Promise<string[]> {
  await requireServicesStopped(kafka)
  const changes = specs.flatMap(({ name, configs }) => {
    const value = configs[timeSetting]
    return value === undefined ? [] : [[name, { [timeSetting]: value }] as const]
  })
  await changeTopics(kafka, new Map(changes))
  return await withAdmin(kafka, (admin) => moveBack(admin, backMs))
}

const requireServicesStopped = (kafka: KafkaConnection) =>
  requireStopped(kafka, [...consumedTopics.keys()], {
    nextStep: 'stop all services and their sidecars, then run this command again',
    tell: () => {},
  })

/** The timestamps that request the end of a partition, and its newest record (KIP-734). */
const [latest, newest] = [-1n, -3n]

interface Offset {
  offset: bigint
  timestamp: bigint
}

/** Moves each group back to the first record of the last `backMs`. A group with an earlier position, or without one, keeps it. */
async function moveBack(admin: Admin, backMs: number): Promise<string[]> {
  const positions = await positionsOf(admin, consumedTopics)
  const times = [...(await offsetsAt(admin, positions, newest)).values()].map(({ timestamp }) => timestamp)
  const since = times.reduce((last, time) => (time > last ? time : last), 0n) - BigInt(backMs)
  if (since < 0n) return ['the topics are empty']
  const [found, ends] = await Promise.all([offsetsAt(admin, positions, since), offsetsAt(admin, positions, latest)])
  const targets = positions.map((position) => {
    const key = keyOf(position)
    const first = found.get(key)?.offset ?? -1n
    // Kafka returns -1 if no record is this new.
    const offset = first < 0n ? (ends.get(key)?.offset ?? 0n) : first
    return { ...position, offset: offset < position.next ? offset : position.next }
  })
  const time = new Date(Number(since)).toISOString()
  await commitPositions(admin, targets)
  return [...Map.groupBy(targets, ({ group }) => group)].map(([group, own]) => {
    const again = own.reduce((sum, { end, offset }) => sum + Number(end - offset), 0)
    return `${group}: handles the events since ${time} or older unhandled events, at most ${again}`
  })
}

const keyOf = ({ topic, partition }: { topic: string; partition: number }) => `${topic}/${partition}`

async function offsetsAt(
  admin: Admin,
  partitions: readonly { topic: string; partition: number }[],
  timestamp: bigint,
): Promise<ReadonlyMap<string, Offset>> {
  const unique = new Map(partitions.map((each) => [keyOf(each), each]))
  const topics = [...Map.groupBy(unique.values(), ({ topic }) => topic)].map(([name, own]) => ({
    name,
    partitions: own.map(({ partition: partitionIndex }) => ({ partitionIndex, timestamp })),
  }))
  const answers = await admin.listOffsets({ topics })
  return new Map(
    answers.flatMap(({ name: topic, partitions: own }) =>
      own.map(({ partitionIndex: partition, offset, timestamp }) => [
        keyOf({ topic, partition }),
        { offset, timestamp },
      ]),
    ),
  )
}
