import { readBacklog } from '@orderflow/chaos/backlog'
import { eventually, type RunningStack } from '@orderflow/stack'

/**
 * What there is once every service has done with all that is in the log. A service tells Kafka so after it has stored and published
 * what comes of a record, so nothing changes any more.
 */
export async function settled<T>({ kafka }: Pick<RunningStack, 'kafka'>, find: () => Promise<T>): Promise<T> {
  await eventually(async () => (await readBacklog(kafka)).behind === 0, 'the services to be done with the log')
  return find()
}
