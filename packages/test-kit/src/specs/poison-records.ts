import { randomUUID } from 'node:crypto'
import { type EventType, fieldSchema, payloadFields } from '@orderflow/envelope'

export interface Poison {
  value: string | Buffer | null
  /** The reason in the dead letter. `tells` is a part of the dead letter's detail. */
  reason: string
  tells: string
}

const deep = '['.repeat(20_000) + ']'.repeat(20_000)
const text = (event: object) => JSON.stringify(event)

/** Returns invalid records for the event types of a topic: all problems for the first type, and wrong fields for the others. */
export function poisonOfAll([first, ...others]: readonly EventType[]): (Poison & { what: string })[] {
  const kinds = [first ? poisonOf(first) : {}, ...others.map(wrongFields)].flatMap((each) => Object.entries(each))
  return kinds.map(([what, kind]) => ({ what, ...kind }))
}

/** Returns invalid records by problem. Most records have the Name of this event type. */
export function poisonOf(type: EventType): Record<string, Poison> {
  const [name = ''] = type.split('@')
  const event = (changes: object = {}, payload: object = {}) => text(sample(type, changes, payload))
  const noEnvelope = (value: Poison['value'], tells: string): Poison => ({ value, reason: 'not-an-envelope', tells })
  const { CreationDate, ...undated } = sample(type)
  return {
    'not UTF-8': { value: Buffer.from([0x7b, 0xff, 0xfe]), reason: 'not-utf8', tells: 'UTF-8' },
    'not JSON': { value: `{"Name": ${name}}`, reason: 'not-json', tells: 'JSON' },
    'a tombstone': noEnvelope(null, 'tombstone'),
    'a list': noEnvelope('[1,2]', 'object'),
    'a CloudEvent': noEnvelope('{"specversion":"1.0","data":{}}', 'CloudEvent'),
    'CreateDate instead of CreationDate': noEnvelope(
      text({ ...undated, CreateDate: CreationDate }),
      'rename CreateDate to CreationDate',
    ),
    'a date without offset': noEnvelope(event({ CreationDate: '2026-11-21T09:30:00' }), '/CreationDate'),
    'the year 0': noEnvelope(event({ CreationDate: '0000-01-01T00:00:00Z' }), '/CreationDate'),
    'a trace id of zeros': noEnvelope(event({ TraceId: '00000000-0000-0000-0000-000000000000' }), '/TraceId'),
    'a NUL': noEnvelope(event({}, { Note: 'a\u0000b' }), 'U+0000'),
    'a lone surrogate': noEnvelope(event({}, { Note: 'a\ud800b' }), 'surrogate'),
    'nesting of 20,000 levels': noEnvelope(event({}, { Note: 'DEEP' }).replace('"DEEP"', deep), 'levels'),
    'an unknown version': { value: event({ Version: 9 }), reason: 'unknown-version', tells: 'handled versions' },
    'a misspelt name': {
      value: event({ Name: name.replace(/(?<=[a-z])(?=[A-Z])/, '_') }),
      reason: 'unknown-event',
      tells: `write ${name}`,
    },
    ...wrongFields(type),
  }
}

function wrongFields(type: EventType): Record<string, Poison> {
  const cases = payloadFields(type).map((field): Record<string, Poison> => {
    const wrong = (value: unknown): Poison => ({
      value: text(sample(type, {}, { [field]: value })),
      reason: 'invalid-payload',
      tells: `/Payload/${field}`,
    })
    const schema = fieldSchema(type, field)
    const place = `${field} of ${type}`
    if (schema.type === 'number') return { [`${place} as text`]: wrong('10'), [`${place} below 0`]: wrong(-1) }
    if (schema.format === 'uuid') return { [`${place} with a urn: prefix`]: wrong(`urn:uuid:${randomUUID()}`) }
    if (schema.format === 'date') return { [`${place} on 30 February`]: wrong('2026-02-30') }
    if (schema.enum) return { [`${place} outside its list`]: wrong('none of them') }
    const { minLength = 0, maxLength, pattern } = schema as { minLength?: number; maxLength?: number; pattern?: string }
    return {
      ...(minLength > 0 && { [`${place}, empty`]: wrong('') }),
      ...(maxLength && { [`${place}, too long`]: wrong('x'.repeat(maxLength + 1)) }),
      ...(pattern && { [`${place}, blank`]: wrong(' \u00a0') }),
    }
  })
  return cases.reduce((all, some) => Object.assign(all, some), {})
}

/** Returns an event of another application, without the optional fields of the envelope. Without `changes` and `payload`, the event is valid. */
function sample(type: EventType, changes: object = {}, payload: object = {}) {
  const [Name, version] = type.split('@')
  const fields = payloadFields(type).map((field) => [field, sampleOf(fieldSchema(type, field))])
  return {
    AppId: randomUUID(),
    AppName: 'older-application',
    Version: Number(version),
    Name,
    CreationDate: '2026-11-21T09:30:00+01:00',
    Payload: { ...Object.fromEntries(fields), ...payload },
    ...changes,
  }
}

function sampleOf(schema: Record<string, unknown>): unknown {
  if (schema.enum) return (schema.enum as unknown[])[0]
  if (schema.format === 'uuid') return randomUUID()
  if (schema.format === 'date') return '2026-11-21'
  if (schema.format === 'date-time') return '2026-11-21T09:30:00Z'
  return schema.type === 'string' ? 'x' : 10
}
