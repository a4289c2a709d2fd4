import { createSharedConnection, type KafkaConnection, type LogReader, openLog } from '@orderflow/kafka-log'
import type { Entry } from '@orderflow/service-kit/log'
import type { Client, Outcome, ReplayOptions } from '@orderflow/service-kit/operations'

/** Loads the modules on first use, because replays are rare and the modules need 55 MB. */
const operations = () => import('@orderflow/service-kit/operations')

/** Time after which an idle connection is closed. */
const idleMs = 30_000

export interface LogAccess {
  /** Runs a function with a connection that the next call can use, too. */
  read<T>(work: (log: LogReader) => Promise<T>): Promise<T>
  replay(entries: Entry[], options: ReplayOptions): AsyncGenerator<Outcome>
  close(): Promise<void>
}

export function createLogAccess(kafka: KafkaConnection): LogAccess {
  const shared = createSharedConnection(() => openLog(kafka), idleMs)

  return {
    read: shared.use,
    async *replay(entries, options) {
      const { Producer } = await import('@platformatic/kafka')
      const { publishReplay, replayEntries } = await operations()
      const producer: Client = new Producer({ clientId: 'event-monitor', ...kafka })
      const reader = openLog(kafka)
      try {
        const publish = (corrected: Parameters<typeof publishReplay>[1]) => publishReplay(producer, corrected, reader)
        yield* replayEntries(reader, publish, entries, options)
      } finally {
        await Promise.allSettled([reader.close(), producer.close()])
      }
    },
    close: shared.close,
  }
}
