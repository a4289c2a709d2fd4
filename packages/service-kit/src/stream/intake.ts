import {
  completeEnvelope,
  type Envelope,
  EnvelopeError,
  type EventName,
  type EventType,
  envelopeErrorCodes,
  eventTypes,
  type FullEvent,
  type IdSource,
  parseEnvelope,
  type ReceivedEnvelope,
  selectEvent,
  typeOf,
  upcast,
} from '@orderflow/envelope'
import { OverloadError } from '../sidecar/batcher.ts'
import { SidecarError } from '../sidecar/sidecar.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Mask } from '../telemetry/mask.ts'
import { type Evidence, UntrustedError } from '../trust/trust.ts'

/**
 * A service's handlers for the events of one topic: a function for each event, by name. It gets every version of the event in the newest
 * one, and is called for a whole batch at once, in order. The result false means that nothing changed. A rejection is infrastructure, one of
 * the service's refusals, or a bug.
 */
export type Handlers<R = unknown> = { readonly [N in EventName]?: (event: FullEvent<N>) => Promise<R> }

/** Handlers by topic. */
export type Reactions<R = unknown> = Readonly<Record<string, Handlers<R>>>

/** Checks an event before its handler is called. @throws {UntrustedError} */
export type Judge = (envelope: ReceivedEnvelope, evidence: Evidence) => void

/**
 * Parses the event in a record's value and calls its handler with the newest version of the event. Returns the event's type as received
 * and the handler's result. Returns undefined for an event without a handler: its payload and publisher are not checked.
 * @param source what missing ids derive from
 * @param onRead called with the envelope and its ids, before the event is checked
 * @throws {EnvelopeError} the event is not valid, or has a version that is not handled
 * @throws {UntrustedError} the publisher may not send it
 * @throws {HandlerError} the handler threw, or the contract cannot upcast the event. An invalid envelope that the handler made is a bug of
 * ours, not a fault of the event
 */
type Intake<R> = (
  record: Evidence,
  source: IdSource,
  onRead?: (envelope: Envelope) => void,
) => Promise<{ type: EventType; answer: R } | undefined>

/** @param onUnhandled called with the `Name@Version` of each event that has no handler */
export function createIntake<R>(
  handlers: Handlers<R>,
  judge: Judge,
  onUnhandled: (type: string) => void = () => {},
): Intake<R> {
  const byName = new Map(Object.entries(handlers)) as Map<string, (event: FullEvent<EventName>) => Promise<R>>
  const types = handledTypes(handlers)
  return async (record, source, onRead) => {
    const envelope = completeEnvelope(parseEnvelope(record.value), source)
    onRead?.(envelope)
    const event = selectEvent(envelope, types)
    const handle = event && byName.get(event.Name)
    if (!handle) {
      onUnhandled(typeOf(envelope))
      return undefined
    }
    judge(event, record)
    try {
      return { type: typeOf(event), answer: await handle(upcast(event as FullEvent)) }
    } catch (error) {
      throw new HandlerError(error)
    }
  }
}

/** Why an event can never be handled. `code` is stable and groups dead letters; `detail` says what to correct, without personal data. */
export interface Fault {
  code: string
  detail: string
}

/** Wraps every error of a handler, so that its bugs differ from those of the code around it. */
export class HandlerError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'unknown', { cause })
    this.name = 'HandlerError'
  }
}

/** Codes of bugs: in the handler, and in our own code around it. Such an event is tried once more, alone, before it becomes a dead letter. */
export const bugs: ReadonlySet<string> = new Set(['handler-error', 'internal-error'])

/** Codes of our own faults, not the event's: the same bytes may succeed after the service or its platform is fixed. */
export const ourFaults: ReadonlySet<string> = new Set(['refused', ...bugs])

/** Returns all codes that a fault can have. */
export function faultCodes(refusals: ReadonlySet<string>): string[] {
  return [...envelopeErrorCodes, ...ourFaults, 'untrusted', ...refusals]
}

/** Returns whether the platform failed. Nothing is wrong with the event or request, and it may succeed later. */
export function isInfrastructure(error: unknown): boolean {
  const cause = thrownBy(error)
  return cause instanceof OverloadError || (cause instanceof SidecarError && cause.failure !== 'refused')
}

/** Returns the original error: of a `HandlerError`, the error of the handler. */
export function thrownBy(error: unknown): unknown {
  return error instanceof HandlerError ? error.cause : error
}

/**
 * Returns why an event can never be handled: it is invalid, its publisher may not send it, it breaks a rule of the domain, or it meets a bug.
 * @param refusals codes of the domain's errors
 */
export function faultOf(error: unknown, refusals: ReadonlySet<string>, mask: Pick<Mask, 'text'>): Fault {
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  if (error instanceof UntrustedError) return { code: error.code, detail: mask.text(error.message) }
  if (!(error instanceof HandlerError)) return { code: 'internal-error', detail: describe(error, mask) }
  const { cause } = error
  if (cause instanceof SidecarError) return { code: 'refused', detail: mask.text(cause.message) }
  const code = refusalCode(cause, refusals)
  if (code !== undefined) return { code, detail: mask.text((cause as Error).message) }
  const what = cause instanceof EnvelopeError ? 'the reaction is not a valid event: ' : ''
  return { code: 'handler-error', detail: `${what}${describe(cause, mask)}` }
}

function describe(error: unknown, mask: Pick<Mask, 'text'>): string {
  return error instanceof Error ? mask.text(`${error.name}: ${error.message}`) : 'unknown'
}

/** Returns the code of a domain error; undefined if it is not one of the service's refusals. */
function refusalCode(error: unknown, refusals: ReadonlySet<string>): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code !== undefined && refusals.has(code) ? code : undefined
}

/** An unhandled type is logged once in this time. */
const logPeriodMs = 60_000
/** Limits the types that are counted separately in a period, because publishers choose the names. */
const maxTypes = 50
const otherTypes = '(others)'
const oddType = '(no plain name)'
/** Characters of a name in a log line. A name may have 200. */
const maxNameLength = 80
/** Pattern of an event's name. Any other text may be personal data. */
const plainName = /^[\w.:/-]+(@\d+)?$/

/**
 * Counts events without a handler, by `Name@Version`. It logs the first of each at once, and their number when the period ends. This
 * is enough to find a misspelt name, without a line per event.
 */
export function createUnhandledCounter(topic: string, log: Logger): (type: string) => void {
  const counts = new Map<string, number>()

  function endPeriod(): void {
    for (const [event, count] of counts) {
      if (count > 1) log.info({ topic, event, count }, 'events without a handler in the last minute')
    }
    counts.clear()
  }

  return (type) => {
    if (counts.size === 0) setTimeout(endPeriod, logPeriodMs).unref()
    const short = plainName.test(type) ? type.slice(0, maxNameLength) : oddType
    const event = counts.has(short) || counts.size < maxTypes ? short : otherTypes
    const count = (counts.get(event) ?? 0) + 1
    counts.set(event, count)
    if (count === 1) log.info({ topic, event }, 'no handler for this event; more of them are counted for a minute')
  }
}

/** Limits the bytes that are parsed at a time, because a parsed event takes many times its size in memory. */
const maxSliceBytes = 2 * 1024 * 1024

/** Cuts a list, in order, so that the values of a slice stay below the limit. A larger value is a slice of its own. */
export function slices<T extends { value: Uint8Array }>(all: T[], maxItems = Number.POSITIVE_INFINITY): T[][] {
  const cut: T[][] = []
  let bytes = 0
  for (const item of all) {
    bytes += item.value.byteLength
    const last = cut.at(-1)
    if (last && last.length < maxItems && bytes <= maxSliceBytes) {
      last.push(item)
    } else {
      cut.push([item])
      bytes = item.value.byteLength
    }
  }
  return cut
}

/** Returns `Name@Version` of each event that the handlers get: all versions of a name. */
export function handledTypes(handlers: Handlers): EventType[] {
  return eventTypes.filter((type) => Object.hasOwn(handlers, type.slice(0, type.lastIndexOf('@'))))
}
