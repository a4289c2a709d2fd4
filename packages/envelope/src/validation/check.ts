import type { ValidateFunction } from 'ajv/dist/2020.js'
import { typeOf } from '../schemas/event-type.ts'
import { knownVersions, type Variant } from '../schemas/schemas.ts'
import type { Fault, Problem } from './error.ts'
import { isObject, limitProblems } from './limits.ts'
import { nearMissIn } from './near-miss.ts'
import { onePerPointer, toProblems } from './problems.ts'
import { envelopeValidators, payloadValidators } from './validators.ts'

/** The fields that identify and describe any event. */
interface EventFields {
  Name?: unknown
  Version?: unknown
  Payload?: unknown
}

/** Problems of the whole document. Its fields are not checked then. */
const tombstone: Problem = { pointer: '', message: 'is null', hint: 'a null value is a tombstone, not an event' }
const cloudEvent: Problem = {
  pointer: '',
  message: 'is a CloudEvent, not an envelope',
  hint: 'send the envelope itself as the Kafka value, not a CloudEvent (Dapr: metadata.rawPayload=true)',
}

/** `specversion` is the attribute that every CloudEvent has (CloudEvents 1.0.2, required attributes). */
function isCloudEvent(document: object): boolean {
  return Object.hasOwn(document, 'specversion') && !Object.hasOwn(document, 'Payload')
}

/** A record of Kafka Connect's JsonConverter, which writes a schema beside each payload unless `schemas.enable` is false. */
function isConnectRecord(document: object): document is { schema: unknown; payload: unknown } {
  return Object.hasOwn(document, 'schema') && Object.hasOwn(document, 'payload') && Object.keys(document).length === 2
}

function connectRecord({ payload }: { payload: unknown }): Problem {
  const hint =
    typeof payload === 'string'
      ? 'set value.converter=org.apache.kafka.connect.storage.StringConverter in the connector, since its payload is a text'
      : 'set value.converter.schemas.enable=false in the connector'
  return { pointer: '', message: 'is a Kafka Connect record with its schema, not an envelope', hint }
}

/** Returns why a document is not an envelope of the variant. Of its Payload, only the JSON type is checked. */
export function envelopeFault(document: unknown, variant: Variant): Fault | undefined {
  const problems = envelopeProblems(document, variant)
  return problems.length > 0 ? { code: 'not-an-envelope', problems } : undefined
}

function envelopeProblems(document: unknown, variant: Variant): Problem[] {
  if (document === null) return [tombstone]
  if (isObject(document) && isCloudEvent(document)) return [cloudEvent]
  if (isObject(document) && isConnectRecord(document)) return [connectRecord(document)]
  const validate = envelopeValidators[variant]
  return validate(document) ? [] : toProblems(validate.errors ?? [])
}

/** Validators by Name and then Version: joining both to a type costs more than two lookups. */
const validatorsByName: ReadonlyMap<string, ReadonlyMap<unknown, ValidateFunction | undefined>> = new Map(
  Array.from(knownVersions, ([Name, versions]) => [
    Name,
    new Map(versions.map((Version) => [Version, payloadValidators.get(typeOf({ Name, Version }))])),
  ]),
)

const nearestEvent = nearMissIn(knownVersions.keys())

/**
 * Returns whether a Name belongs to another application: it has no schema, and is not nearly a known name. Receivers let such an event
 * pass without checking its Payload.
 */
export function isForeignName(name: unknown): boolean {
  return typeof name === 'string' && !knownVersions.has(name) && nearestEvent(name) === undefined
}

/** Returns why a Payload does not fit its Name and Version; undefined if the Name is not a text. */
export function payloadFault({ Name, Version, Payload }: EventFields): Fault | undefined {
  if (typeof Name !== 'string') return undefined
  const versions = knownVersions.get(Name)
  if (!versions) {
    const meant = nearestEvent(Name)
    return unknownEvent(meant ? `write ${meant}` : `known events: ${[...knownVersions.keys()].join(', ')}`)
  }
  const validate = validatorsByName.get(Name)?.get(Version)
  if (!validate) return unknownVersion('known', Name, versions)
  if (validate(Payload)) return undefined
  return { code: 'invalid-payload', problems: toProblems(validate.errors ?? [], '/Payload') }
}

export function unknownEvent(hint: string): Fault {
  return { code: 'unknown-event', problems: [{ pointer: '/Name', message: 'is not a known event', hint }] }
}

/** Returns the fault of a version that has no schema (`known`), or that a receiver does not handle (`handled`). */
export function unknownVersion(kind: 'known' | 'handled', name: string, versions: readonly number[]): Fault {
  const hint = `${kind} versions of ${name}: ${versions.join(', ')}`
  return { code: 'unknown-version', problems: [{ pointer: '/Version', message: `is not a ${kind} version`, hint }] }
}

/** Returns why a document is not a known event in an envelope of the variant, with the problems of both. */
export function eventFault(document: unknown, variant: Variant): Fault | undefined {
  return together(envelopeFault(document, variant), isObject(document) ? payloadFault(document) : undefined)
}

/** Returns the fault of nesting, numbers and texts that JSON allows and the contract does not: see `limitProblems`. */
export function limitFault(document: unknown, isPlain = false): Fault | undefined {
  const problems = limitProblems(document, isPlain)
  return problems.length > 0 ? { code: 'not-an-envelope', problems } : undefined
}

/** Returns the problems of both faults under the code of the first. */
export function together(first: Fault | undefined, second: Fault | undefined): Fault | undefined {
  if (!first || !second) return first ?? second
  return { code: first.code, problems: onePerPointer([...first.problems, ...second.problems]) }
}
