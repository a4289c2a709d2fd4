import type { FullEvent } from '@orderflow/envelope-schema'

/** As version 1 says it: what the logic knows, and what is stored. */
export function asVersion1(event: FullEvent<'OrderCreated@2'>): FullEvent<'OrderCreated@1'> {
  return { ...event, Version: 1, Payload: { ...event.Payload, Total: event.Payload.Total.Amount } }
}

/** As version 2 says it, of the very same order. */
export function asVersion2(event: FullEvent<'OrderCreated@1'>): FullEvent<'OrderCreated@2'> {
  const Total = { Amount: event.Payload.Total, Currency: 'EUR' as const }
  return { ...event, Version: 2, Payload: { ...event.Payload, Total } }
}
