import type { Conversation, ConversationColumn, Step } from '../../src/api/index.ts'

/** Pixels. */
const rowHeight = 46
const topMargin = 12
export const gutter = 150
const dividerHeight = 22

export interface Lifeline {
  columns: (ConversationColumn & { x: number })[]
  columnWidth: number
  width: number
  height: number
  /** The upper edge of each step, and of the one after the last. */
  tops: Float64Array
  /** Idle times to show, by the step after them; milliseconds. */
  idle: Map<number, number>
  /** Milliseconds from the first event, of each step. */
  times: Float64Array
}

/**
 * Returns the layout of a conversation: steps below each other, columns side by side.
 * @param width available width; columns do not get narrower than their names need
 * @param isCompact whether an idle time takes one line instead of space by its length
 */
export function lifelineOf(conversation: Conversation, width: number, isCompact: boolean): Lifeline {
  const { columns, steps } = conversation
  const available = (width - gutter) / Math.max(1, columns.length)
  const columnWidth = Math.max(140, Math.min(240, Math.floor(available)))
  const start = steps.reduce((first, { row }) => Math.min(first, Date.parse(row.at)), Infinity)
  const times = Float64Array.from(steps, ({ row }) => Date.parse(row.at) - start)
  const tops = new Float64Array(steps.length + 1)
  const idle = new Map<number, number>()
  let y = topMargin
  for (let index = 0; index < steps.length; index += 1) {
    const waited = index === 0 ? 0 : (times[index] ?? 0) - (times[index - 1] ?? 0)
    if (waited >= 2000) {
      idle.set(index, waited)
      y += isCompact ? dividerHeight : dividerHeight + Math.min(240, 24 * Math.log2(waited / 1000))
    }
    tops[index] = y
    y += rowHeight
  }
  tops[steps.length] = y
  const placedColumns = columns.map((column, index) => ({ ...column, x: gutter + columnWidth * (index + 0.5) }))
  return {
    columns: placedColumns,
    columnWidth,
    width: gutter + columnWidth * columns.length,
    height: y + topMargin,
    tops,
    idle,
    times,
  }
}

/** Returns the visible steps between two heights, and some around: `[first, end)`. */
export function stepsBetween({ tops }: Lifeline, top: number, bottom: number, around = 6): [number, number] {
  const count = tops.length - 1
  return [Math.max(0, lastAtOrAbove(tops, top) - around), Math.min(count, lastAtOrAbove(tops, bottom) + 1 + around)]
}

function lastAtOrAbove(tops: Float64Array, y: number): number {
  let [low, high] = [0, tops.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((tops[middle] ?? 0) <= y) low = middle
    else high = middle - 1
  }
  return low
}

/** A bar on a column: from the step that a service reacted to, to the one it published. */
export interface Bar {
  column: string
  from: number
  to: number
}

/** Returns the bars that cross steps `[first, end)`, also those that begin and end outside of them. */
export function barsAcross(steps: readonly Step[], first: number, end: number): Bar[] {
  return steps.flatMap(({ cause, from, kind }, to) =>
    cause !== null && kind === 'event' && cause < end && to >= first ? [{ column: from, from: cause, to }] : [],
  )
}

/** Returns whether a step is a record, whose time is known. */
export const isRecord = ({ kind }: Step): boolean => kind !== 'request' && kind !== 'handled'

/** Returns notes on a step's anomalies. */
export function notesOf(step: Step): { kind: 'warn' | 'info'; text: string }[] {
  const notes: { kind: 'warn' | 'info'; text: string }[] = []
  if (step.duplicateOf !== null) notes.push({ kind: 'info', text: `again, first as step ${step.duplicateOf + 1}` })
  if (step.skew) {
    const whose = step.skew.by === 'publisher' ? 'its publisher’s clock' : 'the broker’s clock'
    notes.push({ kind: 'warn', text: `${whose} says ${step.skew.ms} ms before its cause` })
  }
  if (step.missingCause) notes.push({ kind: 'warn', text: `its cause ${step.missingCause} is not here` })
  return notes
}

/** Returns a step's title: `Name@1`, `dead letter: invalid-payload`, `edited and replayed: ...`, `handled: ...`. */
export function titleOf({ kind, row, isEdited }: Step): string {
  if (kind === 'request') return 'request'
  if (kind === 'handled') return `handled: ${typeName(row)}`
  if (kind === 'dead-letter') return `dead letter: ${row.problem?.message ?? 'no reason given'}`
  if (kind === 'replay') return `${isEdited ? 'edited and replayed' : 'replayed'}: ${typeName(row)}`
  return typeName(row)
}

const typeName = ({ name, version, validity }: Step['row']) => (name ? `${name}@${version ?? '?'}` : `(${validity})`)
