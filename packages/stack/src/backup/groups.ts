import { type KafkaConnection, protocolErrors } from '@orderflow/service-kit/kafka'
import type { Admin } from '@platformatic/kafka'
import { CliError } from '../base/error.ts'
import { poll, withRetries } from '../base/run-tool.ts'
import { groupMembers } from '../kafka/readiness.ts'
import { withAdmin } from '../kafka/topics.ts'

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

async function membersOf(kafka: KafkaConnection, group: string): Promise<Set<string>> {
  const answer = await withRetries('Kafka', () =>
    groupMembers(kafka, [group]).catch((error: unknown) => {
      const names = protocolErrors(error)
      if (names.includes('GROUP_ID_NOT_FOUND')) return new Set<string>()
      // A wait does not change the rights of the user.
      if (names.includes('GROUP_AUTHORIZATION_FAILED')) return { denial: error }
      throw error
    }),
  )
  if ('denial' in answer) throw answer.denial
  return answer
}

/** The offset of the first record that a consumer group has not yet handled. */
export interface GroupPosition {
  group: string
  topic: string
  partition: number
  offset: bigint
}

/**
 * Gives consumer groups their positions, so that services continue after their last event. A group that already has a later position keeps it.
 */
export async function movePositions(kafka: KafkaConnection, positions: readonly GroupPosition[]): Promise<void> {
  const groups = [...new Set(positions.map(({ group }) => group))]
  const known = new Map((await groupPositions(kafka, groups)).map((each) => [keyOf(each), each.offset]))
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

export async function groupPositions(kafka: KafkaConnection, groups: string[]): Promise<GroupPosition[]> {
  if (groups.length === 0) return []
  const found = await withAdmin(kafka, (admin) => admin.listConsumerGroupOffsets({ groups }))
  return found.flatMap(({ groupId: group, topics }) =>
    topics.flatMap(({ name: topic, partitions }) =>
      partitions
        // Kafka returns -1 for a partition without a committed offset.
        .filter(({ committedOffset }) => committedOffset >= 0n)
        .map(({ partitionIndex: partition, committedOffset: offset }) => ({ group, topic, partition, offset })),
    ),
  )
}
