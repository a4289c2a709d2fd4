import { type EventType, eventTypes, examplePayload, topicFacts } from '@orderflow/envelope-schema'
import type { Input } from '@orderflow/service-kit'
import { bodyTypes, type Item, itemsOf } from '../domain/items.ts'

/** 1,000 envelopes of 4 KiB. So many such bodies at once are as much as the connections' small ones may be (docs/security.md). */
const limits = { maxBytes: 4 * 1024 * 1024, maxHeldBytes: 64 * 1024 * 1024 }

/** Returns an example of a reduced envelope, of the first event of a topic; undefined for a topic without events. */
export function exampleFor(topic: string | undefined): object | undefined {
  const [event] = (topic && topicFacts[topic]?.events) || []
  const type = eventTypes.findLast((each) => each.startsWith(`${event}@`))
  if (!type) return undefined
  return {
    AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
    AppName: 'older-application',
    Version: versionIn(type),
    Name: event,
    CreationDate: '2026-11-21T09:30:00+01:00',
    Payload: examplePayload(type),
  }
}

const versionIn = (type: EventType) => Number(type.split('@')[1])

/** One envelope, a list of them, or one on each line; not judged yet. */
export const envelopesInput = (example: object | undefined): Input<Item[]> => ({
  read: (request) =>
    itemsOf(request.body ?? new Uint8Array(), request.is(bodyTypes.lines) ? bodyTypes.lines : bodyTypes.json),
  body: {
    name: 'Envelopes',
    // Anything: what is wrong with an envelope is said of each, and is no mistake of the request.
    schema: {
      description: 'An envelope, or a list of them (`/schemas/envelope.received.json`).',
      ...(example && { example }),
    },
  },
  receives: { types: Object.values(bodyTypes), ...limits },
  problems: [400, 413, 415],
})
