import { positionsOf, withAdmin } from '@orderflow/kafka-log'
import type { RunningStack } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { consumedTopics } from '@orderflow/stack/operate'

/**
 * Returns the result of `find` when every service has handled the whole log. Services commit an offset after everything else, so the result
 * is final.
 */
export async function settled<T>({ kafka }: Pick<RunningStack, 'kafka'>, find: () => Promise<T>): Promise<T> {
  // A broker that was just restarted may still break connections.
  const isDone = async () =>
    (await withAdmin(kafka, (admin) => positionsOf(admin, consumedTopics)).catch(() => undefined))?.every(
      ({ lag }) => lag === 0,
    )
  await eventually(isDone, 'the services to be done with the log')
  return find()
}
