import { randomUUID } from 'node:crypto'
import { reduced } from '../support/envelopes.ts'

const deep = '['.repeat(20_000) + ']'.repeat(20_000)
/** Records that are no event, the reason on their dead letter, and what its detail tells. */
export const poison: Record<string, { value: string | Buffer | null; reason: string; tells: string }> = {
  'not UTF-8': { value: Buffer.from([0x7b, 0xff, 0xfe]), reason: 'not-utf8', tells: 'UTF-8' },
  'not JSON': { value: '{"Name": OrderCreated}', reason: 'not-json', tells: 'JSON' },
  'a tombstone': { value: null, reason: 'not-an-envelope', tells: 'tombstone' },
  'a list': { value: '[1,2]', reason: 'not-an-envelope', tells: 'object' },
  'a CloudEvent': { value: '{"specversion":"1.0","data":{}}', reason: 'not-an-envelope', tells: 'CloudEvent' },
  'CreateDate instead of CreationDate': {
    value: JSON.stringify(reduced({}, { CreationDate: undefined, CreateDate: '2026-11-21T09:30:00Z' })),
    reason: 'not-an-envelope',
    tells: 'rename CreateDate to CreationDate',
  },
  'a date without offset': {
    value: JSON.stringify(reduced({}, { CreationDate: '2026-11-21T09:30:00' })),
    reason: 'not-an-envelope',
    tells: '/CreationDate',
  },
  'a total as text': {
    value: JSON.stringify(reduced({ Total: '10' })),
    reason: 'invalid-payload',
    tells: '/Payload/Total',
  },
  'a negative total': {
    value: JSON.stringify(reduced({ Total: -1 })),
    reason: 'invalid-payload',
    tells: '/Payload/Total',
  },
  'an OrderId with a urn: prefix': {
    value: JSON.stringify(reduced({ OrderId: `urn:uuid:${randomUUID()}` })),
    reason: 'invalid-payload',
    tells: '/Payload/OrderId',
  },
  'an empty tax id': {
    value: JSON.stringify(reduced({ CustomerTaxId: '' })),
    reason: 'invalid-payload',
    tells: 'CustomerTaxId',
  },
  'an unknown version': {
    value: JSON.stringify(reduced({}, { Version: 9 })),
    reason: 'unknown-version',
    tells: 'handled versions',
  },
  'a misspelt name': {
    value: JSON.stringify(reduced({}, { Name: 'Order_Created' })),
    reason: 'unknown-event',
    tells: 'write OrderCreated',
  },
  'a name of blanks': {
    value: JSON.stringify(reduced({ CustomerName: ' \u00a0' })),
    reason: 'invalid-payload',
    tells: '/Payload/CustomerName',
  },
  'a NUL': {
    value: JSON.stringify(reduced({ CustomerName: 'a\u0000b' })),
    reason: 'not-an-envelope',
    tells: 'U+0000',
  },
  'a lone surrogate': {
    value: JSON.stringify(reduced({ CustomerName: 'a\ud800b' })),
    reason: 'not-an-envelope',
    tells: 'surrogate',
  },
  'a trace id of zeros': {
    value: JSON.stringify(reduced({}, { TraceId: '00000000-0000-0000-0000-000000000000' })),
    reason: 'not-an-envelope',
    tells: '/TraceId',
  },
  'the year 0': {
    value: JSON.stringify(reduced({}, { CreationDate: '0000-01-01T00:00:00Z' })),
    reason: 'not-an-envelope',
    tells: '/CreationDate',
  },
  'nesting of 20,000 levels': {
    value: JSON.stringify(reduced({ Note: 'DEEP' })).replace('"DEEP"', deep),
    reason: 'not-an-envelope',
    tells: 'levels',
  },
}
