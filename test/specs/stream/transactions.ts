import { randomUUID } from 'node:crypto'
import { orderUrl, orderWith, paymentsOf, paymentUrl, send } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import type { KafkaConnection, RunningStack } from '@orderflow/stack'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { publishInTransaction, type TransactionEnd } from '../../support/kafka/kafka-transaction.ts'
import { refusalOf } from '../../support/kafka/refusal.ts'

const ends: Record<TransactionEnd, string> = {
  abort: 'refuses a producer that opens a transaction, so an aborted one leaves no order and no payment',
  leave: 'refuses a producer that opens a transaction, so one that stays open leaves no order and no payment',
}

/**
 * Sidecars read records of a transaction before it ends, and even if it is aborted. So Kafka forbids transactions.
 * @param publisher the connection of an application that may write orderevents
 */
export function transactionalProducers(running: () => RunningStack, publisher: () => KafkaConnection): void {
  describe('the handling of transactional producers', () => {
    for (const [end, title] of Object.entries(ends) as [TransactionEnd, string][]) {
      it(title, async () => {
        const [stack, event, next] = [running(), full(), full()]
        const { OrderId } = event.Payload
        const refusal = await refusalOf(publishInTransaction(publisher(), recordOf(event, OrderId), end))
        // This order follows in the same partition. When it is paid, both services have handled everything before it.
        await publishIdempotently(publisher(), recordOf(next, OrderId))
        await orderWith(orderUrl(stack), next.Payload.OrderId, 'Paid')
        const { status } = await send(`${orderUrl(stack)}/v1/orders/${OrderId}`)
        const payments = await paymentsOf(paymentUrl(stack), OrderId)
        expect({ refusal, status, payments }).to.deep.equal({
          refusal: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
          status: 404,
          payments: [],
        })
      })
    }
  })
}

const recordOf = (envelope: object, key: string) => ({
  topic: 'orderevents',
  key: Buffer.from(key),
  value: Buffer.from(JSON.stringify(envelope)),
})

/** Publishes with an idempotent producer, as docs/publishing.md recommends. */
async function publishIdempotently(kafka: KafkaConnection, record: ReturnType<typeof recordOf>): Promise<void> {
  const producer = new Producer({ clientId: `idempotent-${randomUUID()}`, ...kafka, idempotent: true })
  try {
    await producer.send({ messages: [record] })
  } finally {
    await producer.close()
  }
}
