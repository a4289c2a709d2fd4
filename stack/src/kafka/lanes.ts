import { partitions } from '../lib/services.ts'

/** The Kafka component that publishes first, and brings what is not urgent (components/kafka.yaml). */
export const publisher = 'pubsub'

/** The Kafka components that bring what is waited for, one for each partition (docs/adr/0011). */
export const lanes: readonly string[] = Array.from({ length: partitions }, (_, index) => `${publisher}-${index + 1}`)
