import { randomUUID } from 'node:crypto'
import type { StreamSettings } from '@orderflow/service-kit/kafka'
import { createStreamCheck } from '@orderflow/service-kit/stream-check'
import { Consumer } from '@platformatic/kafka'
import { localKafka } from '../../src/kafka/connection.ts'
import { ensureRunning } from '../../src/processes/ensure.ts'
import type { Plan } from '../../src/processes/plan.ts'

/** Starts the broker of a stack, as the stack does, and waits until it answers. */
export async function startBroker(plan: Plan): Promise<void> {
  await ensureRunning(plan, ['kafka'], { onProgress: () => {} })
}

/** A service's consumer group that nobody had before, and what keeps it from the broker. */
export function newGroup(plan: Plan) {
  const group = `a-service-${randomUUID()}`
  const connection = localKafka(plan.ports.kafka)
  const settings = { Brokers: connection.bootstrapBrokers.join(','), AuthType: 'none' } as StreamSettings
  return {
    group,
    check: createStreamCheck(settings, { group, reads: [], writes: [] }),
    /** Becomes a member; `close` makes it leave. */
    consume: async (): Promise<Consumer> => {
      const consumer = new Consumer({ groupId: group, clientId: 'test', ...connection })
      const stream = await consumer.consume({ topics: ['orderevents'] })
      // A broker that is suspended, or killed, is an error of the stream; its test asks for something else.
      stream.on('data', () => {}).on('error', () => {})
      return consumer
    },
  }
}
