import type { FullEvent } from '@orderflow/envelope'
import { createConsumer } from '../../../src/stream/consuming/consumer.ts'
import { createPublisher } from '../../../src/stream/publishing/publish.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { capturedLog } from '../../../src/testing/captured-log.ts'
import type { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { app, handlerIn } from '../account.ts'
import type { startBills } from '../bill.ts'

/**
 * Creates a consumer of the topic `deadlines` for a process with bills.
 * @param before runs before the handler of each event, and may delay it
 */
export function consumeDeadlines(
  sidecar: FakeSidecar,
  { opened }: ReturnType<typeof startBills>,
  before: (event: FullEvent) => Promise<void> = async () => {},
) {
  const handler = async (event: FullEvent) => {
    await before(event)
    return await handlerIn(opened.reactions, event)(event)
  }
  const consumer = createConsumer('deadlines', { DeadlinePassed: handler } as never, {
    ...{ app: app.name, refusals: new Set<string>(), publish: createPublisher(sidecar) },
    trust: { asksForSignature: () => false, requireTrusted() {} },
    ...{ appendTimes: async () => new Map(), log: capturedLog().log, metrics: createMetrics(), now: () => new Date() },
  })
  let offset = 0
  const publishedOn = (name: string) => sidecar.published.filter(({ topic }) => topic === name)
  return {
    /** Delivers the records that were not delivered successfully. Returns their statuses. */
    async deliver(): Promise<string[]> {
      const records = publishedOn('deadlines').slice(offset)
      const entries = records.map(({ key, value }, index) => ({
        ...{ entryId: `e${offset + index}`, value: Buffer.from(value) },
        metadata: { __partition: '0', __offset: String(offset + index), __key: key ?? '' },
      }))
      const statuses = (await consumer.deliver([entries])).map(({ status }) => status as string)
      if (statuses.every((status) => status === 'SUCCESS')) offset += records.length
      return statuses
    },
    deadLetters: () => publishedOn('deadlines.dead'),
  }
}
