import { isGuid } from '@orderflow/envelope-schema'

/** What should follow from an event: one of `effects`, which the service `by` publishes, about the same thing. */
export interface Rule {
  cause: string
  effects: readonly string[]
  by: string
}

/** A cancelled order is not waited for: whether it was charged before is for others to say. */
export const rules: readonly Rule[] = [
  {
    cause: 'OrderCreated',
    effects: ['PaymentApproved', 'PaymentRejected', 'PaymentRefunded', 'OrderCancelled'],
    by: 'payment-service',
  },
]

/** What an event of the rules is about, in its payload. */
const subjectField = 'OrderId'

/** What a document is about: its OrderId; null for one without. */
export function subjectOf(document: unknown): string | null {
  const { Payload } = Object(document) as { Payload?: unknown }
  const subject = (Object(Payload) as Record<string, unknown>)[subjectField]
  return isGuid(subject) ? subject.toLowerCase() : null
}
