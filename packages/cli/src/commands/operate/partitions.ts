import { timed } from '@orderflow/stack/base'
import { addMissingPartitions } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { nearNamedKafka } from '../../near-kafka.ts'

/** Waits until the services of a running stack consume the new partitions. */
export const command: Command = {
  run: nearNamedKafka('partitions', () => addMissingPartitions(timed())),
}
