import { readBacklog } from '@orderflow/chaos/backlog'
import { eventually, type RunningStack } from '@orderflow/cli'

/**
 * What there is once every service has done with all that is in the log. A service tells Kafka so after it has stored and published
 * what comes of a record, so nothing changes any more.
 */
export async function settled<T>({ kafka }: Pick<RunningStack, 'kafka'>, find: () => Promise<T>): Promise<T> {
  // A broker that was just broken may still cut off who asks.
  const isDone = () =>
    readBacklog(kafka).then(
      ({ behind }) => behind === 0,
      () => false,
    )
  await eventually(isDone, 'the services to be done with the log')
  return find()
}
