import { EnvelopeError, eventTypes, type Problem, parseEnvelope, parseEvent, selectEvent } from '@orderflow/envelope'
import { headerOf, type LogRecord } from '@orderflow/kafka-log'
import {
  contractMask,
  deadLetterHeaders,
  type readRecord,
  signatureHeader,
  signatureIn,
  type Trust,
  UntrustedError,
  whileHandling,
} from '@orderflow/service-kit/log'
import type { Validity } from '../api/events.ts'
import { documentIn, plainWord } from './masked.ts'

/** The result of reading a record as a receiver does. */
export interface Verdict {
  validity: Validity
  faults: Problem[]
  /** The problem that all records of the kind share, if it differs from the first fault. */
  shared?: Problem
  /** Undefined if the record is not JSON. */
  document: unknown
}

export const maxFaults = 100

export type Judge = Pick<Trust, 'requireTrusted'>

/**
 * Reads a record as a receiver does.
 * @param trust by default, every publisher is trusted
 */
export function eventVerdict(
  record: Pick<LogRecord, 'topic' | 'value' | 'headers'> & Partial<Pick<LogRecord, 'appendedAt'>>,
  trust: Judge = { requireTrusted() {} },
): Verdict {
  const { topic, value, appendedAt = Number.NaN } = record
  try {
    const envelope = parseEnvelope(value)
    const event = selectEvent(envelope, eventTypes)
    if (!event) return { validity: 'foreign', faults: [], document: envelope }
    const signature = record.headers.length > 0 ? signatureIn(headerOf(record, signatureHeader)) : undefined
    trust.requireTrusted(topic, event, { value, signature, appendedAt })
    return { validity: 'valid', faults: [], document: event }
  } catch (error) {
    const document = documentIn(value.toString())
    if (error instanceof UntrustedError) {
      return { validity: 'untrusted', faults: [{ pointer: '', message: contractMask.text(error.message) }], document }
    }
    if (!(error instanceof EnvelopeError)) throw error
    return { validity: error.code, faults: allProblems(value, error), document }
  }
}

function allProblems(value: Uint8Array, first: EnvelopeError): Problem[] {
  if (first.code !== 'not-an-envelope') return first.problems
  try {
    parseEvent(value)
    return first.problems
  } catch (error) {
    return error instanceof EnvelopeError ? error.problems : first.problems
  }
}

export function deadLetterVerdict(deadRecord: ReturnType<typeof readRecord>, record: LogRecord): Verdict {
  const document = documentIn(record.value.toString())
  if (deadRecord.kind === 'note') return { validity: 'replay-note', faults: [], document: undefined }
  if (deadRecord.kind !== 'dead-letter') return { validity: 'other', faults: [], document }
  const problems = deadLetterProblems(record)
  const [first, ...rest] = problems ?? []
  const [reason, app] = [deadRecord.reason, deadRecord.app].map(plainWord)
  const shared = {
    ...(first ?? { pointer: '' }),
    message: `${reason} in ${app}${first ? `: ${first.message}` : ''}`,
  }
  if (problems) return { validity: 'dead-letter', faults: [shared, ...rest], document }
  // Excludes a sentence of the app from the kind, because it may contain values of the event.
  const detail = headerOf(record, deadLetterHeaders.detail) ?? ''
  const sentence = whileHandling(record.value, () => contractMask.text(detail))
  const fault = { pointer: '', message: sentence ? `${shared.message}: ${sentence}` : shared.message }
  return { validity: 'dead-letter', faults: [fault], shared, document }
}

/** Returns the list of problems that the app reported, or undefined if the app reported a sentence instead. */
function deadLetterProblems(record: LogRecord): Problem[] | undefined {
  try {
    const problems: unknown = JSON.parse(headerOf(record, deadLetterHeaders.detail) ?? '')
    const isProblem = (one: unknown): one is Problem =>
      ['pointer', 'message'].every((name) => typeof (Object(one) as Record<string, unknown>)[name] === 'string')
    return Array.isArray(problems) ? problems.filter(isProblem).slice(0, maxFaults) : undefined
  } catch {
    return undefined
  }
}
