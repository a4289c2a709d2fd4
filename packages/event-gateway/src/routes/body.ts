import type { Input } from '@orderflow/service-kit'
import { bodyTypes, type Item, itemsOf } from '../domain/items.ts'

const example = {
  AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T09:30:00+01:00',
  Payload: {
    OrderId: '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d',
    CustomerName: 'Grace Hopper',
    CustomerTaxId: 'US-1',
    Total: 10,
  },
}

/** 1,000 envelopes of 4 KiB. So many such bodies at once are as much as the connections' small ones may be (docs/security.md). */
const limits = { maxBytes: 4 * 1024 * 1024, maxHeldBytes: 64 * 1024 * 1024 }

/** One envelope, a list of them, or one on each line; not judged yet. */
export const envelopes: Input<Item[]> = {
  read: (request) =>
    itemsOf(request.body ?? new Uint8Array(), request.is(bodyTypes.lines) ? bodyTypes.lines : bodyTypes.json),
  body: {
    name: 'Envelopes',
    // Anything: what is wrong with an envelope is said of each, and is no mistake of the request.
    schema: { description: 'An envelope, or a list of them (`/schemas/envelope.received.json`).', example },
  },
  receives: { types: Object.values(bodyTypes), ...limits },
  problems: [400, 413, 415],
}
