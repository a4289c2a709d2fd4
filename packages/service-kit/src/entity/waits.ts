import { parseMoment } from '@orderflow/envelope'
import { indexNameOf } from '../state/deadlines/index-names.ts'
import type { OpenCall } from './entity.ts'

/** Open deadlines, by name. `fired` is true if the event of the deadline is in the log, or will be announced. */
export type Deadlines = Readonly<Record<string, { at: string; fired?: true }>>

/** A deadline, or the next try of a call. */
export interface Deadline {
  name: string
  /** The time as in events. */
  at: string
}

/** An open call in a document. */
export interface StoredCall {
  target: string
  /** The attempt, as the state names it. */
  attempt: string
  /** The time from which the target knows the key of this attempt. After a rebuild it is 1970, because the log does not have the time of the call. */
  opened: string
  /** The time of the next try. */
  at: string
  /** True if a process has begun a try. */
  begun?: true
  /** The number of tries without an outcome. Missing for 0. */
  tries?: number
  /** True if the event of its outcome is in the log, or will be announced. */
  answered?: true
}

/** The deadlines and calls of an entity's document. */
export interface Waits {
  /** The open deadlines of the state. */
  deadlines?: Deadlines
  /** The open calls of the state, by name. */
  calls?: Readonly<Record<string, StoredCall>>
}

/** The parts of a declaration that wait for something. */
interface Waiting<S> {
  name: string
  deadlines?(state: S): object
  every?: object
  calls?(state: S): object
}

/** The attempt of a call whose state names none. */
const onlyAttempt = '1'
export const attemptOf = ({ attempt = onlyAttempt }: OpenCall): string => String(attempt)

/** The rules for the deadlines and calls of a state, for one declaration. All functions are pure. */
export function waitRules<S>(definition: Waiting<S>) {
  /** Returns the open deadlines of a state, with their times as in events. */
  function deadlinesOf(state: S): Record<string, string> {
    const times = Object.entries(definition.deadlines?.(state) ?? {}) as [string, Date | string | undefined][]
    const scheduled = times.find(([name]) => Object.hasOwn(definition.every ?? {}, name))
    if (scheduled) throw new Error(`${scheduled[0]} of ${definition.name} is a deadline and a schedule: rename one`)
    return Object.fromEntries(times.flatMap(([name, time]) => (time === undefined ? [] : [[name, textOf(name, time)]])))
  }

  function textOf(deadline: string, time: Date | string): string {
    // For null, `new Date` would return a time in the past, so the deadline would pass at once.
    const date = typeof time === 'string' ? parseMoment(time) : time
    const year = date instanceof Date ? date.getUTCFullYear() : Number.NaN
    if (date && year > 0 && year < 10_000) return date.toISOString()
    throw new Error(
      `the deadline ${deadline} of ${definition.name} has no valid time: ${time}. Return a Date, a date-time with an offset, or undefined`,
    )
  }

  /** Returns the open calls of a state. */
  function callsOf(state: S): Record<string, OpenCall> {
    const calls = Object.entries(definition.calls?.(state) ?? {}) as [string, OpenCall | undefined][]
    return Object.fromEntries(calls.flatMap(([name, call]) => (call === undefined ? [] : [[name, call]])))
  }

  /** Returns the document with the deadlines and calls of its state. Those that stay keep what is known about them. */
  function waiting<D extends Waits>(document: D, state: S, now: Date): D {
    const { deadlines: known = {}, calls: made = {}, ...rest } = document
    const time = now.toISOString()
    const deadlines = definition.deadlines
      ? mapped(deadlinesOf(state), (at, name) => (known[name]?.at === at ? known[name] : { at }))
      : document.deadlines
    const calls = definition.calls
      ? mapped(callsOf(state), (call, name) => {
          const attempt = attemptOf(call)
          const { target } = call
          const known = made[name]
          const isSame = known?.attempt === attempt && known.target === target
          return isSame ? known : { target, attempt, opened: time, at: time }
        })
      : document.calls
    return { ...rest, ...(deadlines && { deadlines }), ...(calls && { calls }) } as D
  }

  return { deadlinesOf, callsOf, waiting }
}

/** Returns the deadlines and tries of calls that the stored document does not have. */
export function armedIn(document: Waits, stored: Waits | undefined): Deadline[] {
  const known = new Map(waitsIn(stored).map(({ name, at }) => [name, at]))
  return waitsIn(document).filter(({ name, at }) => known.get(name) !== at)
}

/** Returns the deadlines that have not passed, and the next tries of calls. */
export const unfiredIn = (document: Waits | undefined): Deadline[] => waitsIn(document).filter(({ isOver }) => !isOver)

function waitsIn({ deadlines = {}, calls = {} }: Waits = {}) {
  return [
    ...Object.entries(deadlines).map(([name, { at, fired = false }]) => ({ name, at, isOver: fired })),
    ...Object.entries(calls).map(([name, call]) => {
      return { name: indexNameOf(name, call), at: call.at, isOver: call.answered ?? false }
    }),
  ]
}

/** Returns an object with other values; undefined for an object without fields. */
function mapped<A, B>(
  values: Readonly<Record<string, A>>,
  change: (value: A, name: string) => B,
): Record<string, B> | undefined {
  const entries = Object.entries(values).map(([name, value]) => [name, change(value, name)] as const)
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}
