import type { FullEvent } from '@orderflow/envelope'
import { topicOfEvent } from '@orderflow/envelope/kafka'
import { callSidecar, unlimited } from '../sidecar/handler-time.ts'
import type { Announcing } from '../state/announcing.ts'
import { type Publish, RefusedEventError } from '../stream/publish.ts'

/**
 * Creates the function that announces events of a document: it publishes them in the given sequence, and resolves when the log has all of them. Calls
 * share the publication of an event. If an event fails, so do the waiting events of its key, because they must not overtake it.
 */
export function createAnnounce(
  publish: Publish,
  onAnnounced: Announcing['announced'],
): (key: string, events: readonly FullEvent[]) => Promise<void> {
  const publishing = new Set<string>()
  /** The last call for each document. It ends after all earlier calls. */
  const calls = new Map<string, Promise<void>>()

  async function publishOnce(event: FullEvent): Promise<void> {
    publishing.add(event.Id)
    await publish(topicOf(event), event).finally(() => publishing.delete(event.Id))
  }

  async function announce(key: string, events: readonly FullEvent[]): Promise<void> {
    // Many calls may share many events, so each call waits only for the call before it.
    const own = events.filter(({ Id }) => !publishing.has(Id))
    const [earlier, isShared] = [calls.get(key), own.length < events.length]
    const publications = own.map((event) => unlimited(() => publishOnce(event)))
    const [before, ...results] = await Promise.allSettled([earlier, ...publications])
    const stalled = new Set(isShared && isStalling(before) ? own.map(topicOf) : [])
    const announced = own.filter((event, index) => {
      if (isStalling(results[index])) stalled.add(topicOf(event))
      return results[index]?.status === 'fulfilled' && !stalled.has(topicOf(event))
    })
    const ids = announced.map(({ Id }) => Id)
    onAnnounced(key, ids)
    const failure = [...(isShared ? [before] : []), ...results].find((result) => result?.status === 'rejected')
    if (failure) throw failure.reason
  }

  return async (key, events) => {
    if (events.length === 0) return
    // The wait for another call's publication is a wait for the sidecar, too. A handler that has ended begins no call.
    await callSidecar(() => {
      const call = announce(key, events)
      calls.set(key, call)
      return call.finally(() => calls.get(key) === call && calls.delete(key))
    })
  }
}

/** Returns true for an outage. Later events of the topic are then perhaps in the wrong place. */
const isStalling = (result: PromiseSettledResult<unknown> | undefined): boolean =>
  result?.status === 'rejected' && !(result.reason instanceof RefusedEventError)

const topicOf = ({ Name }: FullEvent): string => topicOfEvent(Name) as string
