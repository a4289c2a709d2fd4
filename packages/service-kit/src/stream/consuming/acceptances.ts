import { deadLetterTopic } from '@orderflow/envelope'
import { positionText } from '@orderflow/kafka-log'
import type { OutgoingEvent } from '../../sidecar/sidecar.ts'
import type { EarlierDeadLetters } from '../dead-letters/earlier-dead-letters.ts'
import { acceptanceHeaders, type BulkEntry, type Delivery, keyBytes, readDelivery, recordIdOf } from '../log/record.ts'
import type { EventHandlerOptions, Result } from './event-handler.ts'

export interface AcceptanceOptions extends Pick<EventHandlerOptions, 'app' | 'publish' | 'now' | 'log'> {
  /** Left out if the records of a delivery have no dead letters of earlier processes. */
  earlierDeadLetters?: EarlierDeadLetters
}

/** Writes the acceptances of the handled records. @throws {SidecarError} if an acceptance is not written; the records are then delivered again */
type Accept = (results: ReadonlyMap<BulkEntry, Result>) => Promise<void>

/**
 * Returns a function that begins to read the dead letters of earlier processes about the entries of a delivery. A process may die between a dead letter
 * and the sidecar's commit. If a later process handles the record, for example because trust.json has changed, it writes an acceptance. So the latest
 * outcome of the record is in the log, and a rebuild applies it.
 */
export function createAcceptances(
  topic: string,
  { app, publish, now, log, earlierDeadLetters }: AcceptanceOptions,
): (entries: readonly BulkEntry[]) => Accept {
  const isHandled = (result: Result) => result === 'handled' || result === 'duplicate'
  return (entries) => {
    // The sidecar has its own connection to Kafka, so events are handled even if the service cannot reach Kafka.
    const reading = earlierDeadLetters?.(topic, oldestOf(entries, now().getTime())).catch((err: unknown) => {
      log.warn({ topic, err }, unread)
      return undefined
    })
    return async (results) => {
      const deadLetters = await reading
      if (!deadLetters || deadLetters.size === 0) return
      for (const [entry, result] of results) {
        if (!isHandled(result)) continue
        const delivery = readDelivery(entry, topic)
        const names = [idIn(delivery), positionText(delivery.position)].filter((name) => name !== undefined)
        const known = names.filter((name) => deadLetters.has(name))
        if (known.length === 0) continue
        await publish(acceptanceOf(delivery, app))
        for (const name of known) deadLetters.delete(name)
      }
    }
  }
}

const unread = 'Kafka does not return earlier dead letters, so a rebuild may leave out records that are handled now'

/** Returns the earliest time of arrival; the given time if all records are later or have no time. */
function oldestOf(entries: readonly BulkEntry[], now: number): number {
  return entries.reduce((oldest, { metadata }) => {
    const time = Number(metadata.__timestamp)
    return time >= 0 && time < oldest ? time : oldest
  }, now)
}

const idIn = ({ value, escapedKey, arrivedAt }: Delivery): string | undefined =>
  recordIdOf({ value, key: keyBytes(escapedKey), arrivedAt })

/** Returns the acceptance of a record. It has the key of the dead letter, so both are in the same partition. */
function acceptanceOf(delivery: Delivery, app: string): OutgoingEvent {
  const record = idIn(delivery)
  const headers = {
    [acceptanceHeaders.app]: app,
    [acceptanceHeaders.position]: positionText(delivery.position),
    ...(record !== undefined && { [acceptanceHeaders.record]: record }),
  }
  return { topic: deadLetterTopic(delivery.position.topic), key: delivery.key, value: Buffer.alloc(0), headers }
}
