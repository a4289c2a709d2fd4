import {
  type KafkaConnection,
  type LogReader,
  logOn,
  offsetsAt,
  type Position,
  partitionKey,
  positionsOf,
  requireReadable,
  withAdmin,
} from '@orderflow/kafka-log'
import { settingsOf } from '@orderflow/service-kit/log'
import type { Admin } from '@platformatic/kafka'
import { changeKnown } from '../kafka/topic-settings.ts'
import { consumedTopics, ensureTopics, type TopicSpec } from '../kafka/topics.ts'
import { commitPositions, requireStopped } from './groups.ts'
import { whileCopied, withCopyLock } from './target.ts'

// A region is passive while MirrorMaker copies the log of another region to its Kafka, and no service runs. It is active while its services run.

const timeSetting = 'message.timestamp.type'

/**
 * Creates missing topics for MirrorMaker. Copied records keep their times, because ids of failed records derive from these times. Returns a warning
 * for each other wrong setting.
 * @throws {CliError} `still-running` if a service runs
 */
export async function makePassive(kafka: KafkaConnection, specs: readonly TopicSpec[]): Promise<string[]> {
  const passive = specs.map((spec) =>
    timeSetting in spec.configs ? { ...spec, configs: { ...spec.configs, [timeSetting]: 'CreateTime' } } : spec,
  )
  return await whileStopped(kafka, async () => {
    await ensureTopics(kafka, passive)
    await changeKnown(kafka, timed(specs), Object.keys(whileCopied), () => whileCopied)
    return await ensureTopics(kafka, passive)
  })
}

const timed = (specs: readonly TopicSpec[]) =>
  specs.filter(({ configs }) => timeSetting in configs).map(({ name }) => name)

/** Runs `work` while all services are stopped, and while no other command copies records to this Kafka. */
async function whileStopped<Result>(kafka: KafkaConnection, work: () => Promise<Result>): Promise<Result> {
  const tell = () => {}
  const nextStep = 'stop all services and their sidecars, then run this command again'
  await requireStopped(kafka, [...consumedTopics.keys()], { nextStep, tell })
  return await withCopyLock(kafka, tell, work)
}

/**
 * Prepares a passive region for the start of its services. The brokers set the times of new records again, and consumer groups go back in time.
 *
 * MirrorMaker copies partitions independently. So a group's position may be behind an event, although the service's answers to this event were not
 * copied. Therefore the services handle the last events again. This has no effect on events whose answers were copied.
 * @param backMs the time before the last record of each partition. It must be longer than the delay of the slowest copied partition
 * @returns a line for each group
 * @throws {CliError} `still-running` if a service runs
 */
export async function makeActive(
  kafka: KafkaConnection,
  specs: readonly TopicSpec[],
  backMs: number,
): Promise<string[]> {
  return await whileStopped(kafka, async () => {
    await changeKnown(kafka, timed(specs), Object.keys(whileCopied), settingsOf)
    return await withAdmin(kafka, (admin) => moveBack(kafka, admin, backMs))
  })
}

/**
 * Moves each group back to the first record of the last `backMs`. A group with an earlier position, or without one, keeps it. Each partition counts from
 * its last record, because the newest time of all records may be that of a clock which was ahead.
 */
async function moveBack(
  { bootstrapBrokers: brokers }: KafkaConnection,
  admin: Admin,
  backMs: number,
): Promise<string[]> {
  const positions = await positionsOf(admin, consumedTopics)
  const log = logOn(async () => admin, brokers)
  const times = new Map<string, bigint>()
  const ends = [...new Map(positions.map((each) => [partitionKey(each), each])).values()].filter(({ end }) => end > 0n)
  for (const end of ends) times.set(partitionKey(end), (await lastTime(log, end)) - BigInt(backMs))
  if (ends.length === 0) return ['the topics are empty']
  // Kafka refuses negative times.
  const timeOf = (position: Position) => BigInt(Math.max(0, Number(times.get(partitionKey(position)))))
  const { values: found } = requireReadable(await offsetsAt(admin, ends, timeOf))
  const targets = positions.map((position) => {
    const first = found.get(partitionKey(position)) ?? -1n
    // Kafka returns -1 if no record is this new.
    const offset = first < 0n ? position.end : first
    return { ...position, offset: offset < position.next ? offset : position.next }
  })
  await commitPositions(admin, targets)
  return [...Map.groupBy(targets, ({ group }) => group)].map(([group, own]) => {
    const again = own.reduce((sum, { end, offset }) => sum + Number(end - offset), 0)
    return `${group}: handles the events of the last ${backMs / 60_000} minutes of each partition, or older unhandled events, at most ${again}`
  })
}

/** Returns the time of a partition's last record, or the present time if it is earlier, in milliseconds since 1970. */
async function lastTime(log: Pick<LogReader, 'at'>, { topic, partition, end }: Position): Promise<bigint> {
  const last = await log.at({ topic, partition, offset: String(end - 1n) })
  const now = Date.now()
  return BigInt(Math.min(last?.timestamp ?? now, now))
}
