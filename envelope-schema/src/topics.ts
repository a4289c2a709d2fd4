/** Topic of what happened to orders. The order service produces it; outside publishers may too. */
export const orderEvents = 'orderevents'

/** Topic of what happened to payments. The payment service produces it. */
export const paymentEvents = 'paymentevents'

/** The topic that holds the dead letters of `topic`, such as `orderevents.dead`. */
export function deadLetterTopic(topic: string): string {
  return `${topic}.dead`
}
