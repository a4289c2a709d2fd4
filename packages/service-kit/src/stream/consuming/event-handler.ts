import {
  completeEnvelope,
  deadLetterTopic,
  type Envelope,
  type EventName,
  type EventType,
  eventTypes,
  type FullEvent,
  type IdSource,
  parseEnvelope,
  type ReceivedEnvelope,
  requireExactFields,
  selectEvent,
  typeOf,
  upcast,
} from '@orderflow/envelope'
import { headerOf, type LogRecord, type RecordPosition } from '@orderflow/kafka-log'
import { limitHandler } from '../../sidecar/handler-time.ts'
import { isRefusal } from '../../sidecar/sidecar.ts'
import {
  asSpan,
  errorType,
  type Handling,
  handled,
  type Ids,
  idsOf,
  nowHandling,
  type Run,
  traceparentOf,
  within,
} from '../../telemetry/context.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Outcome, TopicMetrics } from '../../telemetry/metrics.ts'
import { type Evidence, signatureHeader, type Trust } from '../../trust/trust.ts'
import { deadLetterOf, lastResortDeadLetter, minimalDeadLetter } from '../dead-letters/dead-letter.ts'
import { bugs, type Fault, faultOf, HandlerError, isInfrastructure, thrownBy } from '../dead-letters/fault.ts'
import { type Delivery, keyBytes } from '../log/record.ts'
import { type ObservedDelivery, topicAttributes } from '../observed.ts'
import type { PublishRecord } from '../publishing/publish.ts'

/**
 * A service's handlers for the events of one topic, by event name. Events of every version are converted to the newest version. Records with the same
 * key are handled in sequence, other records concurrently. A handler returns false if it changed nothing. It rejects with an infrastructure
 * error, a refusal of the domain, or a bug. A handler that does not end in time has a bug (sidecar/handler-time.ts).
 */
export type Handlers<R = unknown> = { readonly [N in EventName]?: (event: FullEvent<N>) => Promise<R> }

export type Handle<R> = (event: FullEvent) => Promise<R>

export type Reactions<R = unknown> = Readonly<Record<string, Handlers<R>>>

/** Checks that an event is trusted, before its handler is called. @throws {UntrustedError} */
export type Judge = (envelope: ReceivedEnvelope, evidence: Evidence) => void

/**
 * Parses the event of a record and calls its handler with the newest version. Returns the event's original type and the handler's result, or
 * undefined for an event without a handler.
 * @param source the source from which missing ids derive
 * @param onRead receives the envelope and its ids, before the event is checked
 * @throws {EnvelopeError} if the event is invalid, or has an unknown version
 * @throws {UntrustedError} if the publisher may not send the event
 * @throws {HandlerError} if the handler threw or made an invalid envelope, or if the contract cannot upcast the event
 */
type Intake<R> = (
  record: Evidence,
  source: IdSource,
  onRead?: (envelope: Envelope) => void,
) => Promise<{ type: EventType; answer: R } | undefined>

/** Returns the source from which the missing ids of a delivered event derive. */
export const sourceOf = ({ value, escapedKey }: Delivery): IdSource => ({ value, key: keyBytes(escapedKey) })

/** Returns what `Intake` needs to check the trust of a record in the log. */
export const evidenceOf = (record: LogRecord): Evidence => ({
  value: record.value,
  signature: headerOf(record, signatureHeader),
  appendedAt: record.appendedAt,
})

/** @param onUnhandled receives the `Name@Version` of each event without a handler */
export function createIntake<R>(handlers: Handlers<R>, judge: Judge, onUnhandled?: (type: string) => void): Intake<R> {
  const byName = new Map(Object.entries(handlers)) as Map<string, Handle<R>>
  const types = handledTypes(handlers)
  return async (record, source, onRead) => {
    const envelope = completeEnvelope(parseEnvelope(record.value), source)
    onRead?.(envelope)
    const event = selectEvent(envelope, types)
    const handle = event && byName.get(event.Name)
    if (!handle) {
      onUnhandled?.(typeOf(envelope))
      return undefined
    }
    judge(event, record)
    try {
      return { type: typeOf(event), answer: await limitHandler(() => handle(upcast(event as FullEvent))) }
    } catch (error) {
      throw new HandlerError(error)
    }
  }
}

/** Returns handlers that call `around` with each event and its handler. */
export function wrapped<R>(
  handlers: Handlers<R>,
  around: (event: FullEvent, handle: Handle<R>) => Promise<R>,
): Handlers<R> {
  const entries = Object.entries(handlers) as [string, Handle<R>][]
  return Object.fromEntries(entries.map(([name, handle]) => [name, (event: FullEvent) => around(event, handle)]))
}

export const handledTypes = (handlers: Handlers): EventType[] =>
  eventTypes.filter((type) => Object.hasOwn(handlers, type.slice(0, type.lastIndexOf('@'))))

export interface Failure {
  kind: 'infrastructure' | 'bug'
  error: unknown
  ids: Ids
}

export type Result = Outcome | Failure

export interface EventHandlerOptions {
  app: string
  publish: PublishRecord
  trust: Pick<Trust, 'requireTrusted'>
  refusals: ReadonlySet<string>
  log: Logger
  now: () => Date
  metrics: TopicMetrics
  onUnhandled: (type: string) => void
  onEnded: (isBug: boolean) => void
  /** Returns true if the store already has the effects of an event. */
  isStored?: (topic: string, delivery: Delivery) => Promise<boolean>
}

export type EventHandler = ReturnType<typeof createEventHandler>

export function createEventHandler(topic: string, handlers: Handlers, options: EventHandlerOptions) {
  const { app, publish, trust, refusals, log, now, metrics, onUnhandled, onEnded, isStored } = options
  const judge: Judge = (envelope, evidence) => {
    requireExactFields(envelope, evidence.value)
    trust.requireTrusted(topic, envelope, evidence)
  }
  const intake = createIntake(handlers, judge, onUnhandled)

  /** Logs a bug. If masking the line fails, it logs a line that needs no masking. */
  function report(error: unknown, position: RecordPosition): void {
    const message = 'a bug: this service failed on a record'
    try {
      log.error({ err: error, ...position }, message)
    } catch {
      nowHandling(undefined)
      log.error({ reason: errorType(error), ...position }, message)
    }
  }

  /**
   * Returns the outcome of an event, or the reason why the event can never be handled.
   * @throws {SidecarError} if the platform failed
   * @throws {HandlerError} if the handler has a bug, and this was not the last attempt. Any other error is a bug of the code around the handler
   */
  async function handle(delivery: Delivery, onRead: (envelope: Envelope) => void, isLast: boolean) {
    try {
      const taken = await intake(delivery, sourceOf(delivery), onRead)
      if (!taken) return 'unhandled'
      const { causedAt } = delivery
      if (causedAt !== undefined) metrics.reacted(taken.type, Math.max(0, now().getTime() - causedAt))
      return taken.answer === false ? 'duplicate' : 'handled'
    } catch (error) {
      if (isInfrastructure(error)) throw error
      const fault = faultOf(error, refusals, log.mask)
      if (bugs.has(fault.code) && !isLast) throw error
      return fault
    }
  }

  async function putAside(delivery: Delivery, fault: Fault, onRead: (envelope: Envelope) => void): Promise<void> {
    // The fault is already masked, so log lines about it need no more masking.
    nowHandling(undefined)
    // An unreadable record gets derived ids, like an envelope without ids.
    if (handled()?.eventId === undefined) onRead(completeEnvelope({} as ReceivedEnvelope, sourceOf(delivery)))
    const dead = deadLetterTopic(topic)
    const attributes = { ...topicAttributes('send', dead), 'orderflow.dead_letter.reason': fault.code }
    await asSpan(`send ${dead}`, { kind: 'producer', attributes }, () => {
      const span = handled()?.span
      const traced = span ? { ...delivery, traceparent: traceparentOf(span.context) } : delivery
      return publish(deadLetterOf(traced, fault, app, now())).catch((error: unknown) => {
        if (!isRefusal(error)) throw error
        return publish(minimalDeadLetter(traced, fault, app, now()))
      })
    })
    metrics.deadLetter(fault.code)
    log.warn({ ...delivery.position, reason: fault.code, detail: fault.detail }, 'event dead-lettered')
  }

  return {
    /**
     * Tries to handle an event, and publishes a dead letter if the event can never be handled.
     * @param on.isLast true if a bug leads to a dead letter; false if a bug leads to another attempt
     * @param on.isFollowed true if later records of the key wait for this event
     * @param on.isRepeated true if an earlier process may have handled this event
     * @param on.run the records of the key, if the next one may begin before this event is handled
     * @param on.passOn begins the next record
     */
    attempt(
      delivery: Delivery,
      whole: ObservedDelivery,
      on: { isLast: boolean; isFollowed: boolean; isRepeated: boolean; run?: Run | undefined; passOn?: () => void },
    ): Promise<Result> {
      const { isLast, isFollowed, isRepeated, run, passOn } = on
      const { value: document, traceparent, tracestate, arrivedAt } = delivery
      const trace = { ...(traceparent && { traceparent }), ...(tracestate && { tracestate }) }
      const handling: Handling = { document, trace, arrivedAt, isFollowed, run, passOn }
      const onRead = (envelope: Envelope) => whole.read(handling, delivery, envelope)
      // The calls of an ended handler are refused, but not the calls that follow it.
      const afterHandler = <T>(work: () => Promise<T>) =>
        handling.time ? within({ ...handling, time: undefined }, work) : work()
      return within(handling, async (): Promise<Result> => {
        try {
          const result = await handle(delivery, onRead, isLast)
          const fault = typeof result === 'string' ? undefined : result
          if (fault && isRepeated && (await afterHandler(async () => isStored?.(topic, delivery))))
            fault.isStored = true
          if (fault) await afterHandler(() => putAside(delivery, fault, onRead))
          handling.span?.end(fault?.code)
          onEnded(fault !== undefined && bugs.has(fault.code))
          return typeof result === 'string' ? result : 'dead-letter'
        } catch (error) {
          const cause = thrownBy(error)
          handling.span?.end(errorType(cause))
          if (isInfrastructure(error)) return { kind: 'infrastructure', error: cause, ids: idsOf(handling) }
          report(cause, delivery.position)
          return { kind: 'bug', error: cause, ids: idsOf(handling) }
        }
      })
    },

    /** Writes a dead letter that has only the record's position, because our own code fails on the record. */
    async giveUp(position: RecordPosition): Promise<Result> {
      const reason = 'internal-error'
      try {
        await publish(lastResortDeadLetter(position, reason, app, now()))
      } catch (error) {
        // A smaller dead letter is impossible, so the record waits until the topic accepts it.
        return { kind: 'infrastructure', error, ids: {} }
      }
      metrics.deadLetter(reason)
      log.warn({ ...position, reason }, 'event dead-lettered, without its content')
      onEnded(true)
      return 'dead-letter'
    },
  }
}
