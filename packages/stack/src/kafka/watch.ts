import { type Extent, followLog, type KafkaConnection } from '@orderflow/kafka-log'

/** The fields of an event for people. An invalid envelope may lack fields. */
export interface WatchedEvent {
  topic: string
  partition: number
  offset: bigint
  envelope: { Name?: string; AppName?: string; CorrelationId?: string; Payload?: object }
}

/**
 * @param before the number of older events of each partition to report, too
 * @returns a function that stops watching
 */
export async function watchEvents(
  kafka: KafkaConnection,
  topics: string[],
  onEvent: (event: WatchedEvent) => void,
  before = 0n,
): Promise<() => Promise<void>> {
  const begin = ({ start, end }: Extent) => (end - start > before ? end - before : start)
  const { close } = await followLog(kafka, { topics, begin }, ({ topic, partition, offset, value }) => {
    onEvent({ topic, partition, offset, envelope: parseEnvelope(value.toString()) })
  })
  return close
}

function parseEnvelope(value: string): WatchedEvent['envelope'] {
  try {
    return JSON.parse(value) ?? {}
  } catch {
    return {}
  }
}
