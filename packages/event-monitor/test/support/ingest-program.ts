import type { Completeness } from '../../src/api/events.ts'
import { openIndex } from '../../src/index/monitor-index.ts'

// Indexes the log of a Kafka broker on this machine, and reports the number of events. Usage: ingest-program.ts PORT
// FOLDER

const [port = '', folder = ''] = process.argv.slice(2)
const index = openIndex(
  {
    kafka: { bootstrapBrokers: [`127.0.0.1:${port}`] },
    trust: {
      File: '../../components/trust/trust.json',
      Publishers: '../../components/trust/publishers.json',
      SigningKeys: '',
      SignedSince: '',
    },
    root: new URL('../..', import.meta.url).href,
    application: { reactions: [], topics: [], services: {} },
    folder,
    segmentEvents: 4_000,
    keepEvents: 1_000_000,
    keepMs: 7 * 24 * 60 * 60 * 1_000,
  },
  {
    onFailure(error) {
      throw error
    },
    onTrouble() {},
    onPartition() {},
  },
)
await index.start()
/** The state that the index reports, and the number of events that a query finds. */
export interface Report extends Completeness {
  total: number
  error: string | null
}

setInterval(async () => {
  const { total } = await index.ask('events', {}, 1)
  process.send?.({ ...index.completeness(), total, error: index.state().error } satisfies Report)
}, 100)
