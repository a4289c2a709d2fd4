import type { RequestListener } from 'node:http'
import { type Problem, requireExactFields, typeOf } from '@orderflow/envelope'
import express, { type ErrorRequestHandler, type Express } from 'express'
import type { Documents, DocumentsOf } from '../state/documents.ts'
import type { View } from '../state/unit-of-work.ts'
import { sameToken } from '../stream/app-channel.ts'
import { createIntake, type Reactions } from '../stream/event-handler.ts'
import { faultOf, isInfrastructure } from '../stream/fault.ts'
import type { Publish } from '../stream/publish.ts'
import type { RecordPosition } from '../stream/record.ts'
import { whileHandling } from '../telemetry/context.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Mask } from '../telemetry/mask.ts'
import { signatureIn, type Trust } from '../trust/trust.ts'

export interface DryRunRecord {
  position: RecordPosition
  /** Base64. */
  value: string
  /** The key in Base64; left out for a record without a key. */
  key?: string | undefined
  signature?: string | undefined
  /** The time of arrival, in milliseconds since 1970. */
  arrivedAt: number
  /** True if an operator vouches for the record. The dry run then adds the operator's signature to a record of our services. */
  isVouchedFor: boolean
}

/** The result of a dry run. It contains no personal data. */
export type Verdict =
  | { result: 'dead-letter'; reason: string; detail: string; faults: Problem[] }
  | { result: 'changes'; changes: { key: string; before: unknown; after: unknown }[]; publishes: Published[] }
  | { result: 'no-effect'; why: 'duplicate' | 'not-handled'; publishes: Published[] }
  | { result: 'unknown'; why: string }
type Published = { topic: string; type: string }

/**
 * Runs the service's own reactions for a record (`DryRunRecord`). The reactions read the store. The dry run collects the writes and events of the
 * reactions. It stores and publishes nothing.
 * @throws {NoRecordError}
 */
export type DryRun = (record: unknown) => Promise<Verdict>

export class NoRecordError extends Error {
  readonly code = 'no-record'
  readonly status = 400
  constructor() {
    super('the body is not a record: set position, value and arrivedAt')
    this.name = 'NoRecordError'
  }
}

export interface DryRunOptions {
  reactionsOn(on: { documents: DocumentsOf; publish: Publish }): Reactions
  documents: DocumentsOf
  trust: Pick<Trust, 'requireTrusted' | 'vouch'>
  refusals: ReadonlySet<string>
  mask: Mask
}

export function createDryRun({ reactionsOn, documents, trust, refusals, mask }: DryRunOptions): DryRun {
  return async (record) => {
    const { position, value: text, key: keyText = '', signature: given, arrivedAt, isVouchedFor } = recordIn(record)
    const [value, key] = [Buffer.from(text, 'base64'), Buffer.from(keyText, 'base64')]
    const [written, publishes] = [new Map<string, { before: unknown; after: unknown }>(), [] as Published[]]
    // Each record needs new reactions, because reactions may remember earlier writes.
    const reactions = reactionsOn({
      documents: (tenant) => staged(documents(tenant), written),
      publish: async (topic, envelope) => void publishes.push({ topic, type: typeOf(envelope) }),
    })
    const handlers = reactions[position.topic]
    if (!handlers) return { result: 'no-effect', why: 'not-handled', publishes }
    const intake = createIntake(handlers, (envelope, evidence) => {
      requireExactFields(envelope, evidence.value)
      const signature = isVouchedFor ? trust.vouch(envelope, value) : evidence.signature
      trust.requireTrusted(position.topic, envelope, { ...evidence, signature })
    })
    try {
      const taken = await intake({ value, signature: signatureIn(given), appendedAt: arrivedAt }, { value, key })
      if (!taken) return { result: 'no-effect', why: 'not-handled', publishes }
      const changes = whileHandling(value, () =>
        [...written].map(([key, { before, after }]) => ({
          key,
          before: before === undefined ? null : mask.fields(before),
          after: mask.fields(after),
        })),
      )
      return changes.length > 0
        ? { result: 'changes', changes, publishes }
        : { result: 'no-effect', why: 'duplicate', publishes }
    } catch (error) {
      return whileHandling(value, () => failed(error, refusals, mask))
    }
  }
}

function recordIn(body: unknown): DryRunRecord {
  const { position, value, arrivedAt } = (body ?? {}) as Partial<DryRunRecord>
  if (position && typeof value === 'string' && typeof arrivedAt === 'number') return body as DryRunRecord
  throw new NoRecordError()
}

function failed(error: unknown, refusals: ReadonlySet<string>, mask: Mask): Verdict {
  if (isInfrastructure(error)) return { result: 'unknown', why: mask.text((error as Error).message) }
  const { code, detail } = faultOf(error, refusals, mask)
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

/** Returns documents that collect writes. Only later reads of the same dry run see these writes. */
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

/** The largest size of a request's body, in bytes. A body of this size can contain a record of 256 KiB in base64 and the other fields. */
const maxBytes = 512 * 1024

/**
 * Adds `POST /dry-run` to the internal listener, for a `DryRunRecord`. It answers with a `Verdict`, or with the status 400, 401 or 413. It checks the
 * token before it reads the body. The path exists only if the service has reactions and a token.
 * @param others the listener for all other requests
 */
export function withDryRun(
  others: RequestListener,
  { dryRun, token, log }: { dryRun: DryRun | undefined; token: string; log: Logger },
): RequestListener {
  if (!dryRun || !token) return others
  const app: Express = express().disable('x-powered-by').disable('etag')
  app.post(
    '/dry-run',
    (request, response, next) => {
      if (sameToken(`Bearer ${token}`, request.get('authorization'))) return next()
      response.status(401).end()
    },
    express.json({ limit: maxBytes, inflate: false }),
    async (request, response) => {
      response.json(await dryRun(request.body))
    },
  )
  app.use((request, response) => others(request, response))
  app.use(answerFailure(log))
  return app
}

/** Answers a failed request. An invalid body may contain personal data, so it is not logged. */
function answerFailure(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const { status } = (error ?? {}) as { status?: number }
    if (status === undefined) log.error({ err: error }, 'the dry run of a record failed; see err')
    response.status(status ?? 500).end()
  }
}
