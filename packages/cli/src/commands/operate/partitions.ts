import { timed } from '@orderflow/stack/base'
import { addMissingPartitions } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { nearNamedKafka } from '../../near-kafka.ts'

/** In a running stack it waits until the services consume the new partitions. */
export const command: Command = {
  run: nearNamedKafka(
    () => addMissingPartitions(timed()),
    () => ({ args: ['partitions'] }),
  ),
}
