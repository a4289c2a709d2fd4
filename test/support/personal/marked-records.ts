import { randomUUID } from 'node:crypto'
import { type EventType, fieldSchema, mayShow, payloadFields, personalFields } from '@orderflow/envelope-schema'
import type { OutsideRecord } from '@orderflow/test-kit'
import { oddValues } from './marked-requests.ts'
import type { Markers } from './markers.ts'

type Json = Record<string, unknown>

/**
 * Returns outside records with markers in all fields that may contain personal data: valid events, unknown ones, and one for each error.
 * Keys and headers are also markers.
 */
export function markedRecords(topic: string, types: readonly EventType[], markers: Markers): OutsideRecord[] {
  const values = types.flatMap((type) => [...goodEvents(type, markers), ...badEvents(type, markers)])
  return values.map((value) => {
    const marker = () => markers.new('a header')
    const headers = { traceparent: marker(), 'replayed-from': marker(), [marker()]: marker() }
    return { topic, key: markers.new('a key'), value, headers }
  })
}

/** Returns an event of the type with a marker in each field of the payload that accepts any text. */
function sample(type: EventType, markers: Markers, changes: Json = {}): Json & { Payload: Json } {
  const [Name, version] = type.split('@')
  const marker = (place: string) => markers.new(`${place} of ${type}`)
  const fields = payloadFields(type).map((field) => [field, sampleOf(fieldSchema(type, field), () => marker(field))])
  return {
    AppId: randomUUID(),
    AppName: 'older-application',
    Version: Number(version),
    Name,
    CreationDate: '2026-11-21T09:30:00+01:00',
    ...changes,
    Payload: {
      ...Object.fromEntries(fields),
      Note: marker('an unknown field'),
      deep: { er: [{ still: marker('deep') }] },
    },
  }
}

function sampleOf(
  { enum: words, format, type, 'x-pii': isPersonal, maxLength = 0 }: Json,
  marker: () => string,
): unknown {
  if (words) return (words as unknown[])[0]
  if (format === 'uuid') return randomUUID()
  if (type !== 'string') return 10
  // Short texts are names of things, which are not personal.
  return isPersonal || Number(maxLength) > 200 ? marker() : 'x'
}

function goodEvents(type: EventType, markers: Markers): string[] {
  const full = { Id: randomUUID(), CorrelationId: randomUUID(), TraceId: randomUUID(), TenantID: 'a-tenant' }
  const person = { TenantUserID: markers.new('TenantUserID'), Headers: { Who: markers.new('a field of Headers') } }
  const event = sample(type, markers, { ...full, ...person })
  const { OrderId } = event.Payload
  const contradiction = { ...event, Payload: { ...sample(type, markers).Payload, OrderId } }
  const foreign = { Name: 'CustomerMoved' }
  const odd = { Name: `moved: ${markers.new('Name')}` }
  const unknown = [foreign, { ...foreign, ...full, ...person }, odd].map((changes) => sample(type, markers, changes))
  return [event, contradiction, sample(type, markers), ...unknown].map((document) => JSON.stringify(document))
}

function badEvents(type: EventType, markers: Markers): (string | Buffer)[] {
  const event = () => sample(type, markers)
  const marker = (place: string) => () => markers.new(`${place} of ${type}`)
  const personal = personalFields(type).flatMap((pointer) => pointer.split('/').slice(-1))
  // Fields for names of things may be shown, even with other values.
  const fields = payloadFields(type).filter((field) => !mayShow(field, 'any text'))
  const payloads = fields.flatMap((field) =>
    Object.values(oddValues(field, marker(field))).map((odd) => {
      const { [field]: _, ...others } = event().Payload
      return { ...event(), Payload: { ...others, ...odd } }
    }),
  )
  const envelopes = ['AppId', 'CreationDate', 'Version', 'Headers', 'Id', ...personal].flatMap((field) =>
    Object.values(oddValues(field, marker(field))).map((odd) => ({ ...event(), ...odd })),
  )
  const others = [
    { ...event(), Version: 9 },
    { ...event(), Name: `${event().Name}_` },
    { specversion: '1.0', data: event(), subject: markers.new('a CloudEvent') },
    [event()],
    markers.new('a text'),
  ]
  const text = JSON.stringify(event())
  const broken = [
    text.slice(0, -1),
    `${text}}`,
    text.replace('"Payload"', 'Payload'),
    Buffer.from([...Buffer.from(text), 0xff]),
  ]
  return [...[...payloads, ...envelopes, ...others].map((document) => JSON.stringify(document)), ...broken]
}
