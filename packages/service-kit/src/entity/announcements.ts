import type { FullEvent } from '@orderflow/envelope'
import { topicOfEvent } from '@orderflow/envelope/kafka'
import { beginCall } from '../sidecar/handler-time.ts'
import type { Announcing } from '../state/announcing.ts'
import { type Publish, RefusedEventError } from '../stream/publishing/publish.ts'

interface Call {
  /** Missing until the call has begun. */
  end?: Promise<void>
}

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
  const calls = new Map<string, Call>()

  async function announce(key: string, events: readonly FullEvent[], call: Call): Promise<void> {
    // The wait for another call's publication is a wait for the sidecar, too. A handler that has ended begins no call.
    const endCall = beginCall()
    const earlier = calls.get(key)?.end
    calls.set(key, call)
    // Many calls may share many events, so each call waits only for the call before it.
    const own = events.filter(({ Id }) => !publishing.has(Id))
    for (const { Id } of own) publishing.add(Id)
    const results = await Promise.allSettled(own.map((event) => publish(topicOf(event), event)))
    const [before] = earlier ? await Promise.allSettled([earlier]) : []
    for (const { Id } of own) publishing.delete(Id)
    if (calls.get(key) === call) calls.delete(key)
    endCall()
    const shared = own.length < events.length ? before : undefined
    const failure = [shared, ...results].find((result) => result?.status === 'rejected')
    onAnnounced(key, failure ? announcedOf(own, results, shared) : own)
    if (failure) throw failure.reason
  }

  /** Returns the events that are certainly in the log, and not in the wrong place. */
  function announcedOf(
    own: readonly FullEvent[],
    results: readonly PromiseSettledResult<void>[],
    shared: PromiseSettledResult<void> | undefined,
  ): FullEvent[] {
    const stalled = new Set(isStalling(shared) ? own.map(topicOf) : [])
    return own.filter((event, index) => {
      if (isStalling(results[index])) stalled.add(topicOf(event))
      return results[index]?.status === 'fulfilled' && !stalled.has(topicOf(event))
    })
  }

  return (key, events) => {
    const call: Call = {}
    call.end = announce(key, events, call)
    return call.end
  }
}

/** Returns true for an outage. Later events of the topic are then perhaps in the wrong place. */
const isStalling = (result: PromiseSettledResult<unknown> | undefined): boolean =>
  result?.status === 'rejected' && !(result.reason instanceof RefusedEventError)

const topicOf = ({ Name }: FullEvent): string => topicOfEvent(Name) as string
