import { anOrder, orderUrl, orderWith, post } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Order } from '@orderflow/order-service/order'
import { createSigner, publisherOf, signatureHeader } from '@orderflow/service-kit/testing'
import { type RunningStack, services } from '@orderflow/stack'
import { eventually, newSecret } from '@orderflow/stack/base'
import { createProducer, openLog } from '@orderflow/test-kit'
import { expect } from 'chai'

/** Tests signatures, which containers use by default. */
export function forgers(running: () => RunningStack): void {
  describe('an event that imitates a service', () => {
    it('becomes a dead letter, because services require signatures from each other', async () => {
      const stack = running()
      const log = await openLog(stack.kafka, [orderEvents, paymentEvents, `${orderEvents}.dead`])
      const producer = createProducer(stack.kafka)
      try {
        const { id } = (await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)).body
        await orderWith(orderUrl(stack), id, 'Paid')
        await log.caughtUp()
        const own = log.records.filter(({ key }) => key === id)
        const signer = createSigner(stack.signingKeys.split(','))
        const signed = own.map(({ value, headers }) => signer.isBy(value, headers[signatureHeader]))
        expect(signed).to.deep.equal([true, true])

        const { id: AppId, name: AppName } = publisherOf('OrderCancelled')
        const forged = { ...full(), AppId, AppName, Name: 'OrderCancelled', Payload: { OrderId: id } }
        const value = JSON.stringify(forged)
        const other = createSigner([newSecret()]).sign(Buffer.from(value)) ?? ''
        for (const headers of [{}, { [signatureHeader]: other }]) {
          await producer.send({ topic: orderEvents, key: `forged ${id}`, value, headers })
        }
        const deadLetters = () =>
          log.records.filter(({ topic, key }) => topic.endsWith('.dead') && key === `forged ${id}`)
        const receivers = services.filter(({ consumes }) => orderEvents in consumes)
        await eventually(() => deadLetters().length >= 2 * receivers.length, 'the dead letters')
        for (const { headers } of deadLetters()) expect(headers['deadletter-reason']).to.equal('untrusted')
        await orderWith(orderUrl(stack), id, 'Paid')
      } finally {
        await Promise.all([producer.close(), log.close()])
      }
    })
  })
}
