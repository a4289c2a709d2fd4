import { laneCount, type Service } from '../lib/services.ts'

/** The Kafka component that publishes first, and brings what is not urgent (components/kafka.yaml). */
export const publisher = 'pubsub'

/** The Kafka components that bring what is waited for and share a replica's partitions (docs/adr/0011). */
export const lanes: readonly string[] = Array.from({ length: laneCount }, (_, index) => `${publisher}-${index + 1}`)

/** How many members of its consumer group a sidecar is: one for each of its components that subscribes to something. */
export function membersOf({ consumes }: Pick<Service, 'consumes'>): number {
  const urgencies = Object.values(consumes)
  return (urgencies.includes('prompt') ? lanes.length : 0) + (urgencies.includes('background') ? 1 : 0)
}
