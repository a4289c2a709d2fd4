import {
  type GroupPosition,
  groupPositions,
  type KafkaConnection,
  protocolErrors,
  withAdmin,
} from '@orderflow/kafka-log'
import type { Admin } from '@platformatic/kafka'
import { CliError } from '../base/error.ts'
import { poll, withRetries } from '../base/run-tool.ts'
import { groupMembers } from '../kafka/readiness.ts'
import { requireAllowed } from '../kafka/topics.ts'

/** The time after which Kafka removes members that were killed; hosted brokers allow several seconds (`Stream.SessionTimeout`). */
const sessionMs = 15_000

/** @throws {CliError} `still-running` if a consumer group has members */
export async function requireStopped(
  kafka: KafkaConnection,
  groups: string[],
  { nextStep, tell }: { nextStep: string; tell: (line: string) => void },
): Promise<void> {
  for (const group of groups) {
    const isEmpty = async () => (await membersOf(kafka, group)).size === 0
    if (await isEmpty()) continue
    tell(`${group}: waiting until it leaves Kafka at ${kafka.bootstrapBrokers}, at most ${sessionMs / 1_000} seconds`)
    if (await poll(isEmpty, { timeoutMs: sessionMs })) continue
    throw new CliError('still-running', `${group} still uses Kafka at ${kafka.bootstrapBrokers}`, { nextStep })
  }
}

/** Repeats the request, because a coordinator may just have moved. A wait does not change the rights of the user. */
const membersOf = (kafka: KafkaConnection, group: string): Promise<Set<string>> =>
  withRetries('Kafka', () =>
    groupMembers(kafka, [group]).catch((error: unknown) =>
      protocolErrors(error).includes('GROUP_ID_NOT_FOUND') ? new Set<string>() : requireAllowed(error),
    ),
  )

/**
 * Gives consumer groups their positions, so that services continue after their last event. A group that already has a later position keeps it.
 */
export async function movePositions(kafka: KafkaConnection, positions: readonly GroupPosition[]): Promise<void> {
  const groups = [...new Set(positions.map(({ group }) => group))]
  const found = await withAdmin(kafka, (admin) => groupPositions(admin, groups))
  const known = new Map(found.map((each) => [keyOf(each), each.offset]))
  const due = positions.filter((each) => each.offset > (known.get(keyOf(each)) ?? -1n))
  await withAdmin(kafka, (admin) => commitPositions(admin, due))
}

export async function commitPositions(admin: Admin, positions: readonly GroupPosition[]): Promise<void> {
  for (const [groupId, own] of Map.groupBy(positions, ({ group }) => group)) {
    const topics = [...Map.groupBy(own, ({ topic }) => topic)].map(([name, partitions]) => ({
      name,
      partitionOffsets: partitions.map(({ partition, offset }) => ({ partition, offset })),
    }))
    await admin.alterConsumerGroupOffsets({ groupId, topics })
  }
}

export const keyOf = ({ group, topic, partition }: Omit<GroupPosition, 'offset'>) => `${group} ${topic}/${partition}`
