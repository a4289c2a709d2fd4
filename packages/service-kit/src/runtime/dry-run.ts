import { type Problem, requireExactFields, typeOf } from '@orderflow/envelope-schema'
import type { Documents, DocumentsOf } from '../state/documents.ts'
import type { View } from '../state/work.ts'
import { originOf } from '../stream/delivery.ts'
import { faultOf, isInfrastructure } from '../stream/fault.ts'
import { createIntake, type Reactions } from '../stream/intake.ts'
import type { Place } from '../stream/place.ts'
import type { Publish } from '../stream/publish.ts'
import { idSourceOf } from '../stream/record-ids.ts'
import { whileHandling } from '../telemetry/handling.ts'
import { maskedFields, maskedText } from '../telemetry/mask.ts'
import { signatureIn } from '../trust/signature.ts'
import type { Trust } from '../trust/trust.ts'

/** A record that is to be tried. */
export interface TriedRecord {
  place: Place
  /** Base64. */
  value: string
  /** Base64; left out for a record without key. */
  key?: string | undefined
  signature?: string | undefined
  /** Its header of that name, when it was resent. */
  resentFrom?: string | undefined
  /** Milliseconds since 1970. */
  arrivedAt: number
  /** Whether an operator answers for it: then it is judged with his signature, if it speaks as a service of ours. */
  isVouchedFor: boolean
}

/** What a service would do with a record. Nothing in it is personal. */
export type Tried =
  | { result: 'dead-letter'; reason: string; detail: string; faults: Problem[] }
  | { result: 'changes'; changes: { key: string; before: unknown; after: unknown }[]; publishes: Published[] }
  | { result: 'no-effect'; why: 'duplicate' | 'not-handled'; publishes: Published[] }
  | { result: 'unknown'; why: string }
type Published = { topic: string; type: string }

/**
 * Says what a service would do with a record now (`TriedRecord`), by its own code: it reads what is stored, writes nothing and publishes
 * nothing.
 * @throws {NoRecordError}
 */
export type DryRun = (record: unknown) => Promise<Tried>

/** What is to be tried is no record. */
export class NoRecordError extends Error {
  readonly code = 'no-record'
  /** As an answer over HTTP. */
  readonly status = 400
  constructor() {
    super('what is to be tried is no record: it has place, value and arrivedAt')
    this.name = 'NoRecordError'
  }
}

export interface DryRunOptions {
  /** The service's reactions, on whatever they are to be run by. */
  reactionsOn(on: { documents: DocumentsOf; publish: Publish }): Reactions
  documents: DocumentsOf
  trust: Pick<Trust, 'requireTrusted' | 'vouch'>
  refusals: ReadonlySet<string>
  /** See `momentOf`. */
  positionIdsBefore?: number | undefined
}

export function createDryRun({ reactionsOn, documents, trust, refusals, positionIdsBefore }: DryRunOptions): DryRun {
  return async (record) => {
    const {
      place,
      value: text,
      key: keyText = '',
      signature: given,
      resentFrom,
      arrivedAt,
      isVouchedFor,
    } = recordIn(record)
    const [value, key] = [Buffer.from(text, 'base64'), Buffer.from(keyText, 'base64')]
    const source = idSourceOf({ value, key, arrivedAt, origin: originOf(place, resentFrom) }, positionIdsBefore)
    const [written, publishes] = [new Map<string, { before: unknown; after: unknown }>(), [] as Published[]]
    // Made for each record: what a store remembers of what it wrote was never written.
    const reactions = reactionsOn({
      documents: (tenant) => staged(documents(tenant), written),
      publish: async (topic, _key, envelope) => void publishes.push({ topic, type: typeOf(envelope) }),
    })
    const handlers = reactions[place.topic]
    if (!handlers) return { result: 'no-effect', why: 'not-handled', publishes }
    const intake = createIntake(handlers, (envelope, evidence) => {
      requireExactFields(envelope, evidence.value)
      const signature = isVouchedFor ? trust.vouch(envelope, value) : evidence.signature
      trust.requireTrusted(place.topic, envelope, { ...evidence, signature })
    })
    try {
      const taken = await intake({ value, signature: signatureIn(given), appendedAt: arrivedAt }, source)
      if (!taken) return { result: 'no-effect', why: 'not-handled', publishes }
      const changes = whileHandling(value, () =>
        [...written].map(([key, { before, after }]) => ({
          key,
          before: before === undefined ? null : maskedFields(before),
          after: maskedFields(after),
        })),
      )
      return changes.length > 0
        ? { result: 'changes', changes, publishes }
        : { result: 'no-effect', why: 'duplicate', publishes }
    } catch (error) {
      return whileHandling(value, () => failed(error, refusals))
    }
  }
}

function recordIn(body: unknown): TriedRecord {
  const { place, value, arrivedAt } = (body ?? {}) as Partial<TriedRecord>
  if (place && typeof value === 'string' && typeof arrivedAt === 'number') return body as TriedRecord
  throw new NoRecordError()
}

function failed(error: unknown, refusals: ReadonlySet<string>): Tried {
  if (isInfrastructure(error)) return { result: 'unknown', why: maskedText((error as Error).message) }
  const { code, detail } = faultOf(error, refusals)
  return { result: 'dead-letter', reason: code, detail, faults: problemsIn(detail) }
}

function problemsIn(detail: string): Problem[] {
  try {
    const told: unknown = JSON.parse(detail)
    return Array.isArray(told) ? (told as Problem[]) : []
  } catch {
    return []
  }
}

/** Documents as they would be: what is written is seen by what reads later, and by nobody else. */
function staged(real: Documents, written: Map<string, { before: unknown; after: unknown }>): Documents {
  const read: Documents['read'] = async (keys) => {
    const found = new Map(await real.read(keys))
    for (const key of keys) {
      const own = written.get(key)
      if (own) found.set(key, { value: own.after, etag: found.get(key)?.etag ?? '' })
    }
    return found
  }
  return {
    read,
    page: (options, load) => real.page(options, load),
    async change({ key, beside = [], decide }) {
      const found = await read([key, ...beside])
      const view: View = {
        get: <T>(asked: string) => found.get(asked)?.value as T | undefined,
        write(after) {
          const before = written.has(key) ? written.get(key)?.before : found.get(key)?.value
          written.set(key, { before, after })
          found.set(key, { value: after, etag: found.get(key)?.etag ?? '' })
        },
        list: (id) => id,
      }
      return decide(view)
    },
  }
}
