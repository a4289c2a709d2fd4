import type { GroupLag, HealthView } from '../../src/api/index.ts'

/** A group's lag in a topic, of all its partitions. */
export interface GroupSum {
  group: string
  topic: string
  lag: number
  partitions: GroupLag[]
}

/** Partitions of a group and topic as one, the largest lag first. */
export function summedLags(groups: readonly GroupLag[]): GroupSum[] {
  const sums = new Map<string, GroupSum>()
  for (const each of groups) {
    const id = `${each.group} ${each.topic}`
    const sum = sums.get(id) ?? { group: each.group, topic: each.topic, lag: 0, partitions: [] }
    sum.lag += each.lag
    sum.partitions.push(each)
    sums.set(id, sum)
  }
  return [...sums.values()].sort((one, other) => other.lag - one.lag)
}

/** What is wrong, in a line each; empty when all is well. */
export function troubles({ kafka, services, index }: HealthView): string[] {
  const broker = kafka.isUp ? [] : [`Kafka does not answer${kafka.error ? `: ${kafka.error}` : ''}`]
  return [
    ...broker,
    // Without Kafka nothing can be indexed: one line says so already.
    ...(kafka.isUp && index.error ? [`The monitor does not index new events: ${index.error}`] : []),
    ...services.flatMap(({ name, state, reason, sidecar }) => [
      ...(state === 'ready' ? [] : [`${name} is ${state}${reason ? `: ${reason}` : ''}`]),
      ...(sidecar === 'down' ? [`The sidecar of ${name} is down`] : []),
    ]),
  ]
}
