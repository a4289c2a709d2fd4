import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { payloadFields } from '../schemas/field-schema.ts'
import {
  commonSchema,
  eventSchemas,
  fieldsOf,
  inline,
  knownVersions,
  schemaOf,
  typeOf,
  type Variant,
  versionsByName,
} from '../schemas/schemas.ts'
import type {
  Envelope,
  EventName,
  EventOf,
  EventType,
  FullEvent,
  KnownEvent,
  ReceivedEnvelope,
} from '../schemas/types.ts'
import {
  envelopeFault,
  eventFault,
  isObject,
  limitFault,
  payloadFault,
  pointerOf,
  together,
  unknownEvent,
  unknownVersion,
} from '../validation/check.ts'
import { hiddenByParsing } from '../validation/json-text.ts'
import { nearMissIn } from '../validation/near-miss.ts'
import { describeProblem, EnvelopeError, type Problem, refuse } from '../validation/problems.ts'

/**
 * Returns the envelope in a Kafka value, by the rules of a receiver (schemas/envelope.received.json), with its GUIDs in lower case. The
 * Payload is not validated.
 * @param bytes UTF-8 JSON, with or without a byte order mark
 * @throws {EnvelopeError} `not-utf8`, `not-json` or `not-an-envelope`
 */
export function parseEnvelope(bytes: Uint8Array): ReceivedEnvelope {
  const document = decode(bytes)
  refuse(together(limitFault(document, isPlain(bytes)), envelopeFault(document, 'received')))
  return withLowerCaseIds(document as ReceivedEnvelope)
}

/**
 * Validates the Payload (schemas/events/). Returns a copy of the envelope with the Payload's GUIDs in lower case.
 * @throws {EnvelopeError} `unknown-event` (callers may ignore it), `unknown-version` or `invalid-payload`
 */
export function checkPayload(envelope: ReceivedEnvelope): KnownEvent {
  refuse(payloadFault(envelope))
  return withLowerCasePayload(envelope) as KnownEvent
}

/** @throws {EnvelopeError} with the problems of the envelope and its Payload, and the code of the first failed check */
export function parseEvent(bytes: Uint8Array): KnownEvent {
  return parseWhole(bytes, 'received') as KnownEvent
}

/**
 * Parses an event by the rules of a publisher (schemas/envelope.full.json).
 * @throws {EnvelopeError} with the code of the first failed check
 */
export function parseFullEnvelope(bytes: Uint8Array): Envelope & KnownEvent {
  return parseWhole(bytes, 'full') as Envelope & KnownEvent
}

function parseWhole(bytes: Uint8Array, variant: Variant): ReceivedEnvelope {
  const document = decode(bytes)
  refuse(together(limitFault(document, isPlain(bytes)), eventFault(document, variant)))
  return withLowerCasePayload(withLowerCaseIds(document as ReceivedEnvelope))
}

interface Selection {
  versions: ReadonlyMap<string, readonly number[]>
  nearMiss: (name: string) => string | undefined
}

/** A cache. When a list of types is freed, its entry is freed, too. */
const selections = new WeakMap<readonly EventType[], Selection>()

function selectionOf(types: readonly EventType[]): Selection {
  const found = selections.get(types)
  if (found) return found
  const versions = versionsByName(types)
  const selection = { versions, nearMiss: nearMissIn(versions.keys()) }
  selections.set(types, selection)
  return selection
}

/**
 * Returns the event with a valid Payload if the receiver handles its type, or undefined for another application's event. Rejects other
 * versions of a handled name. Also rejects a name that nearly equals a handled name, because it is probably a mistake.
 * @param types a constant list; pass the same list for each event
 * @throws {EnvelopeError} `invalid-payload`, `unknown-version` or `unknown-event`
 */
export function selectEvent<T extends EventType>(
  envelope: ReceivedEnvelope,
  types: readonly T[],
): EventOf<T> | undefined {
  const { Name, Version } = envelope
  const { versions, nearMiss } = selectionOf(types)
  const handled = versions.get(Name)
  if (handled) {
    refuse(handled.includes(Version) ? payloadFault(envelope) : unknownVersion('handled', Name, handled))
    return withLowerCasePayload(envelope) as EventOf<T>
  }
  const meant = knownVersions.has(Name) ? undefined : nearMiss(Name)
  refuse(meant ? unknownEvent(`write ${meant}`) : undefined)
  return undefined
}

/**
 * Converts an event to the newest version of its name. Returns the event unchanged if it has the newest or a later version.
 * @throws {Error} if the contract does not define how to convert the Payload
 */
export function upcast<N extends EventName>(event: Envelope & { Name: N }): FullEvent<N>
export function upcast(event: Envelope): Envelope {
  const known = knownVersions.get(event.Name)
  const newest = known?.at(-1)
  if (!known || newest === undefined || newest <= event.Version) return event
  const later = known.filter((version) => version > event.Version)
  const schemas = [event.Version, ...later].map((Version) => payloadSchemaOf(event.Name, Version))
  const upcasted = { ...event, Version: newest, Payload: upcastPayload(event.Payload, schemas) }
  const problems = payloadFault(upcasted)?.problems
  if (problems) {
    const [from, to] = [typeOf(event), typeOf(upcasted)]
    const wrong = problems.map(describeProblem).join('; ')
    throw new Error(`${from} cannot be converted to a valid ${to}: ${wrong}. Declare x-upcast in the schema of ${to}`)
  }
  return withLowerCasePayload(upcasted)
}

const payloadSchemaOf = (Name: string, Version: number) => eventSchemas.get(typeOf({ Name, Version })) ?? {}

/**
 * Converts a Payload from the first of these schemas to the last one. Each step goes from one schema to the next: it removes the fields that only
 * one of the two declares. Then the newer schema's `x-upcast` adds fields.
 * @param schemas the schema of each version, in ascending order
 */
export function upcastPayload(payload: object, schemas: readonly AnySchemaObject[]): Record<string, unknown> {
  const steps = schemas.slice(1).map((newer, index) => [schemas[index] ?? {}, newer] as const)
  return steps.reduce(
    (older, [before, after]) => ({
      ...(commonPart(older, before, after) as object),
      ...(fill(after['x-upcast'] ?? {}, older) as object),
    }),
    payload as Record<string, unknown>,
  )
}

function commonPart(value: unknown, before: AnySchemaObject, after: AnySchemaObject): unknown {
  if (!isObject(value)) return value
  if (Array.isArray(value)) {
    const [older, newer] = [itemsOf(before), itemsOf(after)]
    return value.map((item) => commonPart(item, older, newer))
  }
  const [older, newer] = [fieldsOf(before), fieldsOf(after)]
  const common = Object.entries(value).filter(([name]) => older.has(name) === newer.has(name))
  return Object.fromEntries(
    common.map(([name, own]) => [name, commonPart(own, older.get(name) ?? {}, newer.get(name) ?? {})]),
  )
}

const itemsOf = ({ items = {} }: AnySchemaObject): AnySchemaObject => inline(items, commonSchema.$defs)

/** Replaces each `{ "x-from": POINTER }` in a template by the value to which POINTER points in the Payload. Leaves out a field without a value. */
function fill(template: unknown, payload: unknown): unknown {
  if (!isObject(template)) return template
  if (Array.isArray(template)) return template.map((item) => fill(item, payload))
  if ('x-from' in template) return valueAt(payload, String(template['x-from']))
  const fields = Object.entries(template).map(([name, own]) => [name, fill(own, payload)] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

function valueAt(document: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1)
  return keys.reduce((value, key) => (Object(value) as Record<string, unknown>)[key], document)
}

const envelopeGuids = ['Id', 'CorrelationId', 'TraceId', 'AppId'] as const

/** Converts the envelope's GUIDs to lower case, so two spellings of an id are equal. */
export function withLowerCaseIds<E extends ReceivedEnvelope>(envelope: E): E {
  return withLowerCase(envelope, envelopeGuids) as E
}

export function withLowerCasePayload<E extends ReceivedEnvelope>(envelope: E): E {
  const payload = withLowerCase(envelope.Payload, schemaOf(typeOf(envelope)).guidFields)
  return payload === envelope.Payload ? envelope : { ...envelope, Payload: payload }
}

/** Returns an object with these texts in lower case. It is the same object if they are in lower case already. */
function withLowerCase<T extends object>(value: T, fields: Iterable<string>): T {
  let result = value as Record<string, unknown>
  for (const field of fields) {
    const text = result[field]
    if (typeof text !== 'string' || text === text.toLowerCase()) continue
    if (result === value) result = { ...result }
    result[field] = text.toLowerCase()
  }
  return result as T
}

// TextDecoder drops a byte order mark by default.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Returns the JSON value in `bytes`. If an object has the same key twice, the last value applies (ECMA-262, JSON.parse). An integer beyond
 * 2^53 loses digits (RFC 7493).
 * @throws {EnvelopeError} `not-utf8` or `not-json`
 */
export function decode(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw notJson({ message: 'is empty', hint: 'an empty value is a tombstone, not an event' })
  const text = decodeText(bytes)
  try {
    return JSON.parse(text)
  } catch (error) {
    // The error has no `cause`, because V8's message quotes the text around the mistake.
    throw notJson(syntaxProblem((error as Error).message))
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    const problem = { pointer: '', message: 'is not UTF-8 text', hint: 'encode the JSON text as UTF-8' }
    throw new EnvelopeError({ code: 'not-utf8', problems: [problem] }, { cause })
  }
}

/** Reads the position at the end of V8's message. Some messages quote the text instead of a position. */
function syntaxProblem(message: string): Omit<Problem, 'pointer'> {
  const [, position, line, column] = / at position (\d+) \(line (\d+) column (\d+)\)$/.exec(message) ?? []
  // A text of one line may be from any line of a file, so the line number 1 would be misleading.
  const place = line === '1' ? '' : ` (line ${line}, column ${column})`
  if (position) return { message: `is not JSON: see position ${position}${place}` }
  if (/^Unexpected end of JSON input$/.test(message)) return { message: 'is not JSON: the text ends too early' }
  return { message: 'is not JSON' }
}

function notJson(problem: Omit<Problem, 'pointer'>): EnvelopeError {
  return new EnvelopeError({ code: 'not-json', problems: [{ pointer: '', ...problem }] })
}

/** Returns true if the text has no escapes. `limitProblems` can then skip the check of strings. */
export function isPlain(bytes: Uint8Array): boolean {
  return !bytes.includes(0x5c)
}

/** Matches a number of at least 16 characters. A double keeps every number of up to 15 digits. */
const manyDigits = /[\d.]{16}/

/**
 * Returns the fields of a known event's Payload whose numbers lost digits. Only fields that the contract names are checked.
 * @param bytes the text of the event
 */
export function inexactFields(event: { Name: string; Version: number; Payload: object }, bytes: Uint8Array): Problem[] {
  const names = payloadFields(typeOf(event) as EventType)
  const payload = event.Payload as Record<string, unknown>
  const numbers = names.filter((name) => typeof payload[name] === 'number')
  if (numbers.length === 0) return []
  // A number that is almost zero is read as zero, so a zero may be inexact.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mayBeInexact = numbers.some((name) => payload[name] === 0) || manyDigits.test(text.toString('latin1'))
  if (!mayBeInexact) return []
  const inexact = hiddenByParsing(bytes).inexactNumbers.filter(([field]) => field === 'Payload')
  return numbers
    .filter((name) => inexact.some((keys) => keys.length === 2 && keys[1] === name))
    .map((name) => inexactNumber(pointerOf(['Payload', name])))
}

export function inexactNumber(pointer: string): Problem {
  const hint = 'write at most 15 digits, such as 12.5'
  return { pointer, message: 'has more digits than a 64-bit double keeps, so its value would change', hint }
}

/** @throws {EnvelopeError} `invalid-payload` if numbers of the event lost digits */
export function requireExactFields(event: { Name: string; Version: number; Payload: object }, bytes: Uint8Array): void {
  const problems = inexactFields(event, bytes)
  if (problems.length > 0) throw new EnvelopeError({ code: 'invalid-payload', problems })
}
