import { randomUUID } from 'node:crypto'
import type { FullEvent } from '@orderflow/envelope'
import { pino } from 'pino'
import { createConsumer } from '../../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'
import type { AppendTimes } from '../../../src/stream/log/shared-admin.ts'
import { createPublisher } from '../../../src/stream/publishing/publish.ts'
import { createMask } from '../../../src/telemetry/mask.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { openTrust } from '../../support/open-trust.ts'

export const orderId = randomUUID()
export const envelope = {
  AppId: randomUUID(),
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: { OrderId: orderId, CustomerName: 'Ada', CustomerTaxId: 'SECRET-TAX-ID', Total: 1 },
}

let offset = 0
const start = 1_795_000_000_000
/** Returns an entry with a unique time of arrival. */
export function timedEntry(value: object | string): BulkEntry {
  const timed = entry(value)
  timed.metadata.__timestamp = String(start + offset)
  return timed
}
export function entry(value: object | string | null, key?: string): BulkEntry {
  offset += 1
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const metadata = { __partition: '2', __offset: String(offset), ...(key !== undefined && { __key: key }) }
  return { entryId: `e${offset}`, value: Buffer.from(value === null ? '' : text), metadata }
}

/** Makes the next entry the first one of its partition. */
export function restartOffsets(): void {
  offset = 0
}

/** A consumer of orderevents with a sidecar in memory. Tests may replace its handler and the times of Kafka. */
export function consuming() {
  const fresh = () => ({
    sidecar: new FakeSidecar(),
    handled: [] as FullEvent<'OrderCreated'>[],
    logged: [] as string[],
    appendTimes: (async () => new Map()) as AppendTimes,
    handle: async (event: FullEvent<'OrderCreated'>): Promise<unknown> => tested.handled.push(event),
  })
  const tested = fresh()
  beforeEach(() => {
    restartOffsets()
    Object.assign(tested, fresh())
  })

  const handlers = { OrderCreated: (event: FullEvent<'OrderCreated'>) => tested.handle(event) }
  const options = () => ({
    app: 'order-service',
    refusals: new Set(['broken-rule']),
    publish: createPublisher(tested.sidecar),
    trust: openTrust,
    appendTimes: tested.appendTimes,
    // This log does not mask its lines, so the tests show which data the consumer itself leaves out.
    log: Object.assign(pino({ level: 'debug' }, { write: (line: string) => tested.logged.push(line) }), {
      mask: createMask(),
    }),
    metrics: createMetrics(),
    now: () => new Date('2026-11-21T10:00:00Z'),
  })
  async function consume(...entries: BulkEntry[]) {
    const consumer = createConsumer('orderevents', handlers, options())
    return (await consumer.deliver([entries])).map(({ status }) => status)
  }
  const lines = () => tested.logged.map((line) => JSON.parse(line))
  /** Returns the reasons of the dead letters. */
  const reasons = () => tested.sidecar.published.map(({ headers }) => headers['deadletter-reason'])
  return Object.assign(tested, { handlers, options, consume, lines, reasons })
}
