import { randomUUID } from 'node:crypto'
import type { StreamSettings } from '@orderflow/kafka-log'
import { createStreamCheck } from '@orderflow/service-kit/operations'
import { Consumer } from '@platformatic/kafka'
import { localKafka } from '../../src/kafka/connection.ts'
import { ensureRunning } from '../../src/processes/ensure.ts'
import type { Plan } from '../../src/processes/plan.ts'

export async function startBroker(plan: Plan): Promise<void> {
  await ensureRunning(plan, ['kafka'], { onProgress: () => {} })
}

/** Returns a new consumer group of a service, and the function that checks the service's stream. */
export function newGroup(plan: Plan) {
  const group = `a-service-${randomUUID()}`
  const connection = localKafka(plan.ports.kafka)
  const settings = { Brokers: connection.bootstrapBrokers.join(','), AuthType: 'none' } as StreamSettings
  return {
    group,
    check: createStreamCheck(settings, { group, reads: [], writes: [] }),
    /** Adds a member to the group. `close` removes the member. */
    consume: async (): Promise<Consumer> => {
      const consumer = new Consumer({ groupId: group, clientId: 'test', ...connection })
      const stream = await consumer.consume({ topics: ['orderevents'] })
      // Ignores errors of a suspended or killed broker.
      stream.on('data', () => {}).on('error', () => {})
      return consumer
    },
  }
}
