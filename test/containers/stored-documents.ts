import { anOrder, orderUrl, orderWith, type ProblemBody, post } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { createProducer } from '@orderflow/test-kit'
import { expect } from 'chai'
import { hostileTexts } from '../specs/stream/hostile-texts.ts'
import type { RunningContainers } from './running-containers.ts'

/** The size of the largest usual document, as batches of writes estimate it. */
const maxDocumentBytes = 8_000

const longest = { 'the longest name, of four bytes a character': '𝒜'.repeat(200) }

/** Field names that have a special meaning for a store, a parser or a template. */
const hostileFields = '{"$set": {"value": "x"}, "a.b": 1, "$$NOW": "$value", "": 0, "__proto__": {"Total": 0}}'

export function storedDocuments(running: () => RunningContainers): void {
  describe('the store of containers', () => {
    let stack: RunningContainers
    let producer: ReturnType<typeof createProducer>
    before(() => {
      stack = running()
      producer = createProducer(stack.kafka)
    })
    after(() => producer.close())

    const publish = (value: string) => producer.send({ topic: 'orderevents', value })

    /** Returns the document of an order: the stored text, and its OrderCreated. */
    async function storedOrder(orderId: string) {
      await orderWith(orderUrl(stack), orderId, 'Paid')
      const [document] = await stack.stores.read('order-service', `order/${orderId}`)
      if (!document) throw new Error(`the store has no order ${orderId}`)
      const [, text] = document
      return { text, fact: JSON.parse(text).state.OrderCreated }
    }

    for (const [what, text] of Object.entries({ ...hostileTexts, ...longest })) {
      it(`keeps a text unchanged in one string: ${what}`, async () => {
        const envelope = full({ CustomerName: text, CustomerTaxId: text.slice(0, 64) })
        await publish(JSON.stringify(envelope))
        const { fact } = await storedOrder(envelope.Payload.OrderId)
        expect(fact.Payload).to.deep.equal(envelope.Payload)
      })
    }

    it('contains only the contract’s fields of an event with hostile field names', async () => {
      const envelope = full({ Note: 'FIELDS' })
      const hostile = JSON.stringify({ ...envelope, Headers: 'FIELDS', Extra: 'FIELDS' })
      await publish(hostile.replaceAll('"FIELDS"', hostileFields))
      const { fact } = await storedOrder(envelope.Payload.OrderId)
      const { Headers: _, TenantID: __, TenantUserID: ___, ...contract } = envelope
      const { Note, ...Payload } = contract.Payload as typeof contract.Payload & { Note: string }
      // The time of its arrival in the log, for the deadlines of the order.
      expect(Object.keys(fact.Headers)).to.deep.equal(['AppendedAt'])
      expect(fact).to.deep.equal({ Headers: fact.Headers, ...contract, Payload })
    })

    it('contains a small document even for the largest event', async () => {
      const envelope = full({ Note: 'x'.repeat(250_000) })
      await publish(JSON.stringify(envelope))
      const { text } = await storedOrder(envelope.Payload.OrderId)
      expect(text.length).to.be.below(maxDocumentBytes)
    })

    it('never contains a text of 1 MB, because HTTP and Kafka reject a text of this size', async () => {
      const text = 'x'.repeat(1024 * 1024)
      const posted = await post<ProblemBody>(`${orderUrl(stack)}/v1/orders`, { ...anOrder, customerName: text })
      expect([posted.status, posted.body.detail]).to.deep.equal([
        413,
        'Send at most 65536 bytes. The request had no effect.',
      ])
      const error = await publish(JSON.stringify(full({ CustomerName: text }))).catch((thrown: unknown) => thrown)
      expect(String((error as Error).cause ?? error)).to.match(/MESSAGE_TOO_LARGE|larger than/)
    })
  })
}
