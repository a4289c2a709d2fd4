import { setTimeout as delay } from 'node:timers/promises'
import { deterministicId, type FullEvent } from '@orderflow/envelope'
import { bulkhead, type IPolicy, isBulkheadRejectedError } from 'cockatiel'
import type { CallRequest, CallTarget, Outcome } from '../calls/target.ts'
import type { Fire } from '../state/deadlines/firing.ts'
import { callIn, indexNameOf } from '../state/deadlines/index-names.ts'
import { keyIn } from '../state/spaces.ts'
import { requirePublishable } from '../stream/publishing/publish.ts'
import { traceIdOf, within } from '../telemetry/context.ts'
import { type Changes, causedBy, documentBytes, idSource, passOn } from './changes.ts'
import type { EntityContext } from './context.ts'
import { type AnyDefinition, documentKey, type EntityDocument, type Entry, withTenant } from './document.ts'
import { type CallOutcome, Refused } from './entity.ts'
import { type CallAnswered, callAnswered, kitEvent } from './kit-events.ts'
import type { Change, Rules } from './step.ts'
import { attemptOf, type StoredCall } from './waits.ts'

/** The code of dead letters that ask a person for the outcome of a call. */
export const callUnknown = 'call-unknown'

/** The longest time for a try. A target has shorter limits for its requests. */
const tryMs = 30_000
/** The time after which another process may make the next try. It is longer than a try, so that two processes do not call at the same time. */
const leaseMs = 2 * tryMs
/** The pause after the first try without an outcome. It doubles with each further one. */
const firstPauseMs = 1_000
const longestPauseMs = 300_000
/** The number of calls to a target that run together, if the target names no other. */
const defaultTogether = 10
/** The largest number of calls that wait for a target in the memory of a process. All others wait in the index. */
const maxWaiting = 1_000

/** A try of a call, as a process has claimed it in the document. */
interface Claim<S> {
  document: EntityDocument<S>
  call: StoredCall
  /** True for the first try of the attempt. The target has not seen the key before. */
  isFirst: boolean
}

type Result = Outcome & { isFinal?: boolean }

/** Creates the functions that make the calls of an entity. */
export function createCalls<S, V>(
  { name: entity, onCall = {} }: AnyDefinition<S, V>,
  rules: Rules<S>,
  { run, settle, arm, announceOpen }: Pick<Changes<S>, 'run' | 'settle' | 'arm' | 'announceOpen'>,
  { app, documents, now, newId, log, tracing }: EntityContext,
  targets: Readonly<Record<string, CallTarget>>,
) {
  /** The calls that wait or run in this process. */
  const begun = new Set<string>()
  const limits = new Map<string, IPolicy>(
    Object.entries(targets).map(([name, { together = defaultTogether }]) => [name, bulkhead(together, maxWaiting)]),
  )
  const idOf = (key: string) => keyIn(key).slice(documentKey(entity, '').length)

  const fire: Fire = async ({ key, name: indexName, at }, isDoubtful) => {
    const { target, name } = callIn(indexName) as { target: string; name: string }
    const isDue = (call: StoredCall | undefined): call is StoredCall =>
      call !== undefined && !call.answered && call.target === target && Date.parse(call.at) === at
    const found = (await documents('').read([key])).get(key)?.value as EntityDocument<S> | undefined
    if (isDue(found?.calls?.[name])) {
      if (targets[target]?.isAvailable?.() !== false) begin(key, name, target, isDue)
      return 'waiting'
    }
    // MongoDB stores the index before the document. If the document comes later, its guard must fail, because the call leaves the index now.
    if (isDoubtful)
      await documents('').change({
        ...{ key, kind: 'fire', bytes: documentBytes },
        decide(stored) {
          const known = stored.get<EntityDocument<S>>(key)
          if (!isDue(known?.calls?.[name])) stored.write({ ...known, visits: (known?.visits ?? 0) + 1 })
        },
      })
    return false
  }

  /** Makes a try when its target has room. If the target has none, the index repeats the call later. */
  function begin(key: string, name: string, target: string, isDue: (call: StoredCall | undefined) => boolean): void {
    const id = `${key} ${name}`
    const limit = limits.get(target)
    if (!limit) throw new Error(`${name} of ${entity} calls the target ${target}, which openEntity did not get`)
    if (begun.has(id)) return
    begun.add(id)
    const work = () => within(undefined, () => attempt(key, name, isDue))
    void limit
      .execute(work)
      .catch((err: unknown) => {
        if (!isBulkheadRejectedError(err)) log.warn({ err, id: idOf(key), call: name }, 'a call failed; it is repeated')
      })
      .finally(() => begun.delete(id))
  }

  async function attempt(key: string, name: string, isDue: (call: StoredCall | undefined) => boolean): Promise<void> {
    const claim = await claimed(key, name, isDue)
    if (!claim) return
    // A rebuild must find the call, so the log has the entity's events first.
    await announceOpen(key, rules.entriesIn(claim.document))
    const span = spanOf(name, claim)
    const result = await within(span && { document: undefined, span }, () => ask(key, name, claim))
    span?.set({ outcome: result?.outcome })
    span?.end(result?.outcome === 'unknown' ? result.outcome : undefined)
    if (result) await note(key, name, claim.call, result)
  }

  /** Begins a span in the trace of the entity's conversation, if this trace is recorded. */
  function spanOf(name: string, { document, call: { target, tries = 0 } }: Claim<S>) {
    const traceId = traceIdOf(rules.originIn(document)?.traceId ?? '')
    if (!traceId || !tracing?.isSampled(traceId, undefined)) return undefined
    const attributes = { 'peer.service': target, tries }
    return tracing.begin(`call ${name}`, traceId, undefined, { kind: 'client', attributes })
  }

  /** Takes a try for this process. Others wait until it is over. */
  function claimed(key: string, name: string, isDue: (call: StoredCall | undefined) => boolean) {
    const at = new Date(now().getTime() + leaseMs).toISOString()
    return documents('').change<Claim<S> | undefined>({
      ...{ key, kind: 'call', bytes: documentBytes, arms: true },
      decide(stored) {
        const document = stored.get<EntityDocument<S>>(key)
        const known = document?.calls?.[name]
        if (!document || !known || !isDue(known)) return undefined
        const call = { ...known, at, begun: true as const }
        write(stored, key, name, document, call)
        return { document, call, isFirst: !known.begun && Date.parse(known.opened) > 0 }
      },
    })
  }

  /** Writes a document with another form of a call, and arms its next try. */
  function write(
    stored: Parameters<typeof arm>[0],
    key: string,
    name: string,
    document: EntityDocument<S>,
    call: StoredCall,
  ): void {
    stored.write({ ...document, calls: { ...document.calls, [name]: call } })
    arm(stored, key, [{ name: indexNameOf(name, call), at: call.at }])
  }

  /** Asks the target. Returns undefined if the state, as this release reads it, has no such call. */
  async function ask(key: string, name: string, { document, call, isFirst }: Claim<S>): Promise<Result | undefined> {
    const open = rules.callsOf(rules.currentState(document))[name]
    const target = targets[call.target]
    if (!open || !target || attemptOf(open) !== call.attempt) return undefined
    const signal = AbortSignal.timeout(tryMs)
    const tenant = { id: rules.originIn(document)?.tenant ?? '' }
    const parts = withTenant(tenant, [app.id, entity, idOf(key), name, call.attempt])
    // biome-ignore lint/plugin/no-spread-arguments: an id has at most nine parts
    const request = { operation: open.operation, input: open.input, key: deterministicId('call', ...parts), signal }
    const isSafe = isFirst || now().getTime() < Date.parse(call.opened) + target.keyLifeMs
    const asked = isSafe ? target.call(request) : lookedUp(target, request)
    try {
      return await Promise.race([asked, timeOut(signal)])
    } catch (err) {
      log.warn({ err, id: idOf(key), call: name }, `the target ${target.name} has a bug: it threw an error`)
      return { outcome: 'unknown', reason: 'the target threw an error, see the log of the service' }
    }
  }

  /** Asks what became of an earlier try, whose key the target may have forgotten. Calls only if the target never got it. */
  async function lookedUp(target: CallTarget, request: CallRequest): Promise<Result> {
    if (!target.lookup)
      return {
        outcome: 'unknown',
        reason: `${target.name} may have forgotten the key, so another try may do it twice; it cannot be asked`,
        isFinal: true,
      }
    const found = await target.lookup(request)
    return found.outcome === 'absent' ? await target.call(request) : found
  }

  /** Saves the result of a try: the event of its outcome, or the time of the next try. */
  function note(key: string, name: string, made: StoredCall, result: Result) {
    const time = now()
    return settle(key, true, () =>
      documents('').change({
        ...{ key, kind: 'answer', bytes: documentBytes, announces: true, arms: true },
        decide(stored) {
          const known = stored.get<EntityDocument<S>>(key)
          const call = known?.calls?.[name]
          const isSame = call?.attempt === made.attempt && call.target === made.target
          if (result.outcome === 'unknown' && !result.isFinal) {
            const tries = (made.tries ?? 0) + 1
            const at = new Date(time.getTime() + pauseAfter(tries)).toISOString()
            if (known && isSame && call.at === made.at && !call.answered)
              write(stored, key, name, known, { ...call, tries, at })
            return { announce: [] }
          }
          if (isSame && call.answered) return { announce: [] }
          const origin = rules.originIn(known)
          const parts = withTenant({ id: origin?.tenant ?? '' }, [
            app.id,
            entity,
            idOf(key),
            name,
            made.attempt,
            made.at,
          ])
          const payload = { Entity: entity, EntityId: idOf(key), Call: name, Attempt: made.attempt, ...toldBy(result) }
          const event = kitEvent(app, callAnswered, ['call', ...parts], payload, { creationDate: time, origin })
          requirePublishable(event)
          const entry: Entry = { event, mark: stored.mark() }
          documents('').announcing.note(key, entry)
          const entries = [...rules.entriesIn(known), entry]
          stored.write({
            ...known,
            ...(isSame && { calls: { ...known?.calls, [name]: { ...call, answered: true as const } } }),
            unannounced: rules.storedEntries(rules.currentState(known), entries),
          })
          return { announce: entries }
        },
      }),
    )
  }

  /** Decides about the outcome of a call. */
  async function decide(event: FullEvent): Promise<boolean> {
    const payload = event.Payload as unknown as CallAnswered
    const { Entity, EntityId: id, Call: name, Attempt: attempt, Outcome: outcome, Reason = '' } = payload
    if (Entity !== entity || event.AppId !== app.id) return false
    if (outcome === 'unknown')
      throw new Refused(
        callUnknown,
        `the outcome of ${name}, attempt ${attempt}, is unknown: ${Reason}. Find out, set Outcome to done or refused, or to again for another try, and replay this record`,
      )
    if (outcome === 'again') return await again(event, id, name, attempt)
    const decider = onCall[name]
    if (!decider) throw new Error(`this version of the service does not know the call ${name} of ${entity}`)
    const change: Change<S> = {
      ...causedBy(event),
      id,
      // This process may know an earlier time of the log than the one that made the call.
      now: new Date(Math.max(now().getTime(), Date.parse(event.CreationDate))),
      newId: idSource(newId),
      call: { name, attempt },
      decide: (state, context) => decider(outcomeOf(payload), state, context),
    }
    const saving = run(change)
    passOn()
    return (await saving).isChanged
  }

  /** Opens an attempt again, because a person has decided that another try does no harm. */
  async function again({ TenantID = '' }: FullEvent, id: string, name: string, attempt: string): Promise<boolean> {
    const own = documents(TenantID)
    const key = documentKey(entity, id)
    const time = now().toISOString()
    return await own.change({
      ...{ key, kind: 'again', bytes: documentBytes, arms: true },
      decide(stored) {
        const known = stored.get<EntityDocument<S>>(key)
        const call = known?.calls?.[name]
        if (!known || call?.attempt !== attempt) return false
        const { target } = call
        write(stored, own.fullKey(key), name, known, { target, attempt, opened: time, at: time })
        return true
      },
    })
  }

  return { fire, decide }
}

/** Resolves when the signal is aborted. */
async function timeOut(signal: AbortSignal): Promise<Outcome> {
  await delay(2 * tryMs, undefined, { signal, ref: false }).catch(() => {})
  return { outcome: 'unknown', reason: `no answer within ${tryMs / 1_000} s` }
}

/** Returns the time until the next try: it doubles with each try, and differs so that many calls do not come together. */
function pauseAfter(tries: number): number {
  const longest = Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1))
  return longest * (0.5 + Math.random() / 2)
}

/** Returns the fields of the event for a result. Texts of the target are cut to the limits of the schema. */
function toldBy(result: Result): Pick<CallAnswered, 'Outcome' | 'Code' | 'Reason' | 'Answer'> {
  const { outcome: Outcome } = result
  if (result.outcome === 'done') return { Outcome, ...(result.answer && { Answer: result.answer }) }
  const Reason = result.reason.trim().slice(0, 2_000) || 'no reason'
  return { Outcome, Reason, ...(result.outcome === 'refused' && { Code: result.code.slice(0, 200) || 'refused' }) }
}

function outcomeOf({ Outcome: outcome, Code = 'refused', Reason = '', Answer }: CallAnswered): CallOutcome {
  return outcome === 'done' ? { outcome, answer: Answer } : { outcome: 'refused', code: Code, reason: Reason }
}
