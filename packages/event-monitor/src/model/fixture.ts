import { envelopeErrorCodes, eventTypes, exampleOfField, examplePayload, type Problem } from '@orderflow/envelope'
import { keyFields, keyOf } from '@orderflow/envelope/kafka'
import { positionText } from '@orderflow/kafka-log'
import type { Fixture } from '../api/actions.ts'
import type { EventRow, RecordPosition } from '../api/events.ts'
import type { Body } from '../index/record.ts'
import { placeholderPointer } from './masked.ts'
import { eventVerdict } from './verdict.ts'

interface Source {
  row: EventRow
  body: Body
}

/** A record of the index: an event, a dead letter with its event, or a dead letter alone. */
export interface Rejection {
  event?: Source | undefined
  /** The newest dead letter about the event, or the requested one. */
  deadLetter?: Source | undefined
}

type Content = Fixture['content']

/**
 * Returns the fixture of an event, in which example values replace hidden values. The value is missing if only the original bytes show the event's fault,
 * for example because they are not JSON.
 */
export function fixtureOf({ event, deadLetter }: Rejection): { fileName: string; app?: string; content: Content } {
  const { row, body } = (event ?? deadLetter) as Source
  const position = event ? row.position : (row.of as RecordPosition)
  const { topic, partition, offset } = position
  const [app, reason] = deadLetter ? ['app', 'reason'].map((name) => headerIn(deadLetter.body, name)) : []
  const validity = event ? row.validity : (reason ?? '')
  const envelope = withExamples(body, topic, validity)
  const key = keyIn(body, envelope, topic)
  return {
    fileName: fileNameOf([row.name ?? 'record', reason ?? validity, topic, partition, offset]),
    ...(app !== undefined && { app }),
    content: {
      description: `${row.name ?? 'A record'} of ${positionText(position)}${app ? `, rejected by ${app}: ${reason}` : ''}`,
      // On a line of its own before others, so that a user can delete the line.
      ...(reason !== undefined && { reason }),
      topic,
      ...(key !== undefined && { key }),
      ...(isNull(body, event) ? { valueBase64: nullText } : envelope !== undefined && { envelope }),
    },
  }
}

const headerIn = ({ headers = [] }: Body, name: string): string | undefined =>
  headers.findLast((header) => header.name === `deadletter-${name}`)?.value

/** Sidecars deliver a tombstone as this text. */
const nullText = Buffer.from('null').toString('base64')

/** A dead letter without bytes may lack the bytes of its event. */
const isNull = ({ document }: Body, event: Source | undefined) => document === null || event?.row.bytes === 0

const fileNameOf = (words: readonly (string | number)[]): string =>
  `${words
    .filter((word) => word !== 'valid')
    .join('-')
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll(/[^\w-]+/g, '-')
    .toLowerCase()}.json`

const maskedKey = /^\*\*\* \(\d+ (characters|bytes)\)$/

function keyIn({ key }: Body, envelope: unknown, topic: string): string | undefined {
  const [, unit] = maskedKey.exec(key ?? '') ?? []
  if (unit === undefined) return key
  return unit === 'bytes' ? undefined : (keyOf(envelope, keyFields(envelope, topic)) ?? madeUp)
}

const madeUp = 'made up'

/** Values that break the usual rules of a field. */
const faulty = [madeUp, '', ' ', 'x'.repeat(300), 'x'.repeat(30_000), '\u0000', '\ud800', 0, -1, 0.001, 1e15]

/** Returns undefined if receivers would no longer read the event with the same result. */
function withExamples({ document, faults = [] }: Body, topic: string, validity: string): unknown {
  if (document === undefined) return undefined
  const examples = { Payload: exampleOf(document) }
  const values = new Map<string, unknown>()
  function read() {
    const envelope = filled(document, (pointer) =>
      values.has(pointer) ? values.get(pointer) : exampleAt(pointer, examples),
    )
    const { validity, faults } = eventVerdict({ topic, value: Buffer.from(JSON.stringify(envelope)), headers: [] })
    return { envelope, validity, faults }
  }
  let result = read()
  // The message of a dead letter begins with its reason and service.
  const isLost = ({ pointer, message }: Problem) =>
    !result.faults.some((fault) => fault.pointer === pointer && message.endsWith(fault.message))
  let lost = faults.filter(isLost)
  for (const value of faulty) {
    if (lost.length === 0) break
    for (const { pointer } of lost) values.set(pointer, value)
    result = read()
    lost = lost.filter(isLost)
  }
  return faultOf(result.validity) === faultOf(validity) ? result.envelope : undefined
}

const faultOf = (validity: string) => envelopeErrorCodes.find((each) => each === validity)

function exampleOf(document: unknown): object {
  const { Name, Version } = Object(document) as { Name?: unknown; Version?: unknown }
  const type = eventTypes.find((each) => each === `${Name}@${Version}`)
  return type ? examplePayload(type) : {}
}

function exampleAt(pointer: string, examples: object): unknown {
  const path = pointer.split('/').slice(1)
  const example = path.reduce<unknown>(
    (found, name) =>
      Array.isArray(found) ? found[0] : Object.hasOwn(Object(found), name) ? Object(found)[name] : undefined,
    examples,
  )
  return example ?? exampleOfField(path.at(-1) ?? '') ?? madeUp
}

/** Replaces each placeholder in a document. */
function filled(value: unknown, valueAt: (pointer: string) => unknown): unknown {
  if (typeof value === 'string') {
    const pointer = placeholderPointer(value)
    return pointer === undefined ? value : valueAt(pointer)
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => filled(item, valueAt))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, valueAt)]))
}
