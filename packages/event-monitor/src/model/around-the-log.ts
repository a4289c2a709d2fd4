import type { Step } from '../api/conversation.ts'

/**
 * Steps with those beside the log that follow from them: a request before an event of ours that reacts to nothing, and a handling after an
 * event that a service is done with. When they were is not known: they stand next to their event.
 * @param wasSetAside whether a service made a dead letter of a step's record
 */
export function withAround(steps: readonly Step[], wasSetAside: (step: Step, service: string) => boolean): Step[] {
  const handled = new Set<string>()
  const all: Step[] = []
  const placeOf: number[] = []
  for (const [index, step] of steps.entries()) {
    const { from, to, row, depth } = step
    const isTaken = row.validity === 'valid' && step.kind !== 'dead-letter'
    const beside = { row, isEdited: false, duplicateOf: null, skew: null, missingCause: null, consumers: [] }
    if (isTaken && isBeginning(step))
      all.push({ ...beside, kind: 'request', from: 'client', to: from, cause: null, depth })
    placeOf[index] = all.length
    all.push(step)
    for (const { lane, handled: isHandled } of isTaken ? step.consumers : []) {
      const service = lane.slice('service:'.length)
      // What comes again changes nothing.
      const key = `${lane} ${to} ${row.id}`
      if (!isHandled || handled.has(key) || wasSetAside(step, service)) continue
      handled.add(key)
      all.push({ ...beside, kind: 'handled', from: lane, to: `state:${service}`, cause: index, depth: depth + 1 })
    }
  }
  const moved = (index: number | null) => (index === null ? null : (placeOf[index] ?? null))
  return all.map((step) => ({
    ...step,
    cause: moved(step.cause),
    duplicateOf: moved(step.duplicateOf),
    consumers: step.consumers.map((one) => ({
      ...one,
      reaction: one.reaction.map((index) => placeOf[index] ?? index),
    })),
  }))
}

const isBeginning = ({ kind, from, cause, missingCause, duplicateOf }: Step) =>
  kind === 'event' && from.startsWith('service:') && cause === null && missingCause === null && duplicateOf === null
