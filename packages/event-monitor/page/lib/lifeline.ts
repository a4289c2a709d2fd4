import type { Conversation, ConversationColumn, Step } from '../../src/api/index.ts'

/** Height of a step. All sizes are in pixels. */
const rowHeight = 46
const topMargin = 12
export const gutter = 150
const dividerHeight = 22

export interface Lifeline {
  columns: (ConversationColumn & { x: number })[]
  columnWidth: number
  width: number
  height: number
  /** Upper edges of the steps, then the lower edge of the last step. */
  tops: Float64Array
  /** Maps the index of a step to the idle time before this step, in milliseconds. */
  idle: Map<number, number>
  /** Milliseconds from the first event to each step. */
  times: Float64Array
}

/**
 * @param width available width; columns stay wide enough for their names
 * @param isCompact true shows each idle time as one line, without empty space
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

/** Returns the steps `[first, end)` between two heights, with some more steps above and below. */
export function stepsBetween({ tops }: Lifeline, top: number, bottom: number, around = 6): [number, number] {
  const count = tops.length - 1
  return [Math.max(0, lastAtOrAbove(tops, top) - around), Math.min(count, lastAtOrAbove(tops, bottom) + 1 + around)]
}

const lastAtOrAbove = (tops: Float64Array, y: number) =>
  Math.max(
    0,
    tops.findLastIndex((top) => top <= y),
  )

export interface Bar {
  column: string
  from: number
  to: number
}

/** Returns the bars that cross the steps `[first, end)`. A bar leads from a cause to its effect. */
export function barsAcross(steps: readonly Step[], first: number, end: number): Bar[] {
  return steps.flatMap(({ cause, from, kind }, to) =>
    cause !== null && kind === 'event' && cause < end && to >= first ? [{ column: from, from: cause, to }] : [],
  )
}

/** Returns true for records in the log. Other steps have no time. */
export const isRecord = ({ kind }: Step): boolean => !['request', 'time', 'handled'].includes(kind)

export function notesOf(step: Step): { kind: 'warn' | 'info'; text: string }[] {
  const notes: { kind: 'warn' | 'info'; text: string }[] = []
  if (step.duplicateOf !== null) notes.push({ kind: 'info', text: `duplicate of step ${step.duplicateOf + 1}` })
  if (step.skew) {
    const whose = step.skew.by === 'publisher' ? 'the publisher’s clock' : 'the broker’s clock'
    notes.push({ kind: 'warn', text: `${whose} shows this event ${step.skew.ms} ms before its cause` })
  }
  if (step.missingCause) notes.push({ kind: 'warn', text: `the cause ${step.missingCause} is not in the index` })
  return notes
}

/** Returns a title, such as `Name@1` or `dead letter: invalid-payload`. */
export function titleOf({ kind, row, isEdited, deadline }: Step): string {
  if (kind === 'request') return deadline === undefined ? 'request' : `request: fire ${deadline} now`
  if (kind === 'time') return `deadline: ${deadline}`
  if (kind === 'handled') return `handled: ${typeName(row)}`
  if (kind === 'dead-letter') return `dead letter: ${row.problem?.message ?? 'no reason given'}`
  if (kind === 'replay') return `${isEdited ? 'edited and replayed' : 'replayed'}: ${typeName(row)}`
  return typeName(row)
}

const typeName = ({ name, version, validity }: Step['row']) => (name ? `${name}@${version ?? '?'}` : `(${validity})`)
