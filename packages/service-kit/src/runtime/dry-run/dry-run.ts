import type { RequestListener } from 'node:http'
import { type Problem, requireExactFields, typeOf } from '@orderflow/envelope'
import type { RecordPosition } from '@orderflow/kafka-log'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { parsedJson } from '../../json.ts'
import type { DocumentsOf } from '../../state/documents.ts'
import { sameToken } from '../../stream/consuming/app-channel.ts'
import { createIntake, type Judge, type Reactions } from '../../stream/consuming/event-handler.ts'
import { faultOf, isInfrastructure } from '../../stream/dead-letters/fault.ts'
import type { Publish } from '../../stream/publishing/publish.ts'
import { whileHandling } from '../../telemetry/context.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Mask } from '../../telemetry/mask.ts'
import { signatureIn, type Trust } from '../../trust/trust.ts'
import { conflictsBetween, newReading, type Reading, readingHandlers } from './conflicts.ts'
import { createStage, noStoredDocuments, type StagedWrite } from './staged.ts'

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
  /** An earlier record of the same event, which the service has not rejected. */
  kept?: { value: string; key?: string | undefined } | undefined
}

/** The result of a dry run. It contains no personal data. */
export type Verdict =
  | ((
      | { result: 'dead-letter'; reason: string; detail: string; faults: Problem[] }
      | { result: 'changes'; changes: { key: string; before: unknown; after: unknown }[]; publishes: Published[] }
      | { result: 'no-effect'; why: 'duplicate' | 'not-handled'; publishes: Published[] }
    ) &
      Conflicts)
  | { result: 'unknown'; why: string }

interface Conflicts {
  /** JSON pointers of the fields in which the record differs from `kept`, of which the service has used the other value. */
  conflicts: string[]
}
type Published = { topic: string; type: string }

/**
 * Runs the service's own reactions for a record (`DryRunRecord`). The reactions read the store. The dry run collects the writes and events of the
 * reactions. It stores and publishes nothing. If the record edits an event that the service has accepted, the result names the conflicts.
 * @throws {NoRecordError}
 */
export type DryRun = (record: unknown) => Promise<Verdict>

export class NoRecordError extends Error {
  readonly code = 'no-record'
  readonly status = 400
  override name = 'NoRecordError'
}

export interface DryRunOptions {
  reactionsOn(on: { documents: DocumentsOf; publish: Publish }): Reactions
  documents: DocumentsOf
  trust: Pick<Trust, 'requireTrusted' | 'vouch'>
  refusals: ReadonlySet<string>
  mask: Mask
}

export function createDryRun({ reactionsOn, documents, trust, refusals, mask }: DryRunOptions): DryRun {
  /** Handles a record, and notes its event. Returns undefined if no handler exists. Each record needs new reactions, because they may remember writes. */
  async function handle(topic: string, { value, key, arrivedAt, signature }: Content, on: On) {
    const handlers = reactionsOn({ documents: on.documents, publish: on.publish })[topic]
    if (!handlers) return undefined
    const intake = createIntake(readingHandlers(handlers, on.reading), on.judge)
    return await intake({ value, signature: signatureIn(signature), appendedAt: arrivedAt }, { value, key })
  }

  /** Notes the fields that the service reads when it handles a record first. Later it may read fewer fields. */
  async function readFirst(topic: string, content: Content, reading: Reading): Promise<void> {
    const { documents } = createStage(noStoredDocuments)
    await handle(topic, content, { ...free, documents, reading }).catch(() => {})
  }

  /** Returns the documents after the service has handled the kept record, and the noted event. The service may reject this record later. */
  async function afterKept(topic: string, content: Content | undefined) {
    const kept = newReading()
    if (!content) return { below: documents, kept }
    const stage = createStage(documents)
    try {
      await handle(topic, content, { ...free, documents: stage.documents, reading: kept })
      if (kept.event) await readFirst(topic, content, { ...kept, event: undefined })
      return { below: stage.documents, kept }
    } catch (error) {
      if (isInfrastructure(error)) throw error
      return { below: documents, kept: newReading() }
    }
  }

  return async (record) => {
    const asked = recordIn(record)
    const { topic } = asked.position
    const content = contentOf(asked, asked)
    const [edited, publishes] = [newReading(), [] as Published[]]
    let kept = newReading()
    const conflicts = () => conflictsBetween(kept, edited)
    try {
      const before = await afterKept(topic, asked.kept && contentOf(asked.kept, asked))
      kept = before.kept
      const stage = createStage(before.below)
      const judge: Judge = (envelope, evidence) => {
        requireExactFields(envelope, evidence.value)
        const signature = asked.isVouchedFor ? trust.vouch(envelope, content.value) : evidence.signature
        trust.requireTrusted(topic, envelope, { ...evidence, signature })
      }
      const publish: Publish = async (to, envelope) => void publishes.push({ topic: to, type: typeOf(envelope) })
      const taken = await handle(topic, content, { documents: stage.documents, publish, judge, reading: edited })
      if (kept.event) await readFirst(topic, content, { ...edited, event: undefined })
      const effects = { publishes, conflicts: conflicts() }
      if (!taken) return { result: 'no-effect', why: 'not-handled', ...effects }
      const changes = whileHandling(content.value, () => stage.writes().map((write) => maskedChange(write, mask)))
      if (changes.length === 0) return { result: 'no-effect', why: 'duplicate', ...effects }
      return { result: 'changes', changes, ...effects }
    } catch (error) {
      return whileHandling(content.value, () => failed(error, refusals, mask, edited.event ? conflicts() : []))
    }
  }
}

type Content = ReturnType<typeof contentOf>

/** The surroundings of one call of a handler. */
type On = { documents: DocumentsOf; publish: Publish; judge: Judge; reading: Reading }

/** Publishes nothing, and trusts each event. */
const free = { publish: async () => {}, judge: () => {} }

const contentOf = (
  { value, key = '' }: Pick<DryRunRecord, 'value' | 'key'>,
  { arrivedAt, signature }: DryRunRecord,
) => ({ value: Buffer.from(value, 'base64'), key: Buffer.from(key, 'base64'), arrivedAt, signature })

const maskedChange = ({ key, before, after }: StagedWrite, mask: Mask) => ({
  key,
  before: before === undefined ? null : mask.fields(before),
  after: mask.fields(after),
})

function recordIn(body: unknown): DryRunRecord {
  const { position, value, arrivedAt } = (body ?? {}) as Partial<DryRunRecord>
  if (position && typeof value === 'string' && typeof arrivedAt === 'number') return body as DryRunRecord
  throw new NoRecordError('the body is not a record: set position, value and arrivedAt')
}

function failed(error: unknown, refusals: ReadonlySet<string>, mask: Mask, conflicts: string[]): Verdict {
  if (isInfrastructure(error)) return { result: 'unknown', why: mask.text((error as Error).message) }
  const { code, detail } = faultOf(error, refusals, mask)
  const problems = parsedJson(detail)
  return { result: 'dead-letter', reason: code, detail, faults: Array.isArray(problems) ? problems : [], conflicts }
}

/** The largest size of a request's body, in bytes. A body of this size can contain two records of 256 KiB in base64 and the other fields. */
const maxBytes = 1024 * 1024

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
