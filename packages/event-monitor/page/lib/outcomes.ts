import type { DryRunResult, ServiceVerdict } from '../../src/api/index.ts'
import { counted } from './format.ts'

export interface Outcome {
  kind: 'good' | 'bad' | 'warn' | 'plain'
  text: string
}

/** Returns the outcome of an event in one service. The text follows the name of the service. */
export function outcomeOf(verdict: ServiceVerdict): Outcome {
  if (verdict.result === 'unknown') return { kind: 'warn', text: `did not answer: ${verdict.why}` }
  const isConflict = verdict.conflicts.length > 0
  if (verdict.result === 'dead-letter') return { kind: 'bad', text: `would reject this event: ${verdict.reason}` }
  if (verdict.result === 'changes') {
    return isConflict
      ? { kind: 'bad', text: 'would change data that it stored for the original event' }
      : { kind: 'good', text: 'would accept this event' }
  }
  if (isConflict) return { kind: 'bad', text: 'would ignore this edit and keep the original event' }
  return verdict.why === 'duplicate'
    ? { kind: 'plain', text: 'has already handled this event and would change nothing' }
    : { kind: 'plain', text: 'would ignore this event' }
}

const isConflict = (verdict: ServiceVerdict) => verdict.result !== 'unknown' && verdict.conflicts.length > 0

/** Returns the most important outcome of a valid event, for all services together. */
export function summaryOf({ services }: DryRunResult): Outcome {
  const share = (some: readonly ServiceVerdict[]) => `${some.length} of ${counted(services.length, 'service')}`
  const rejecting = services.filter(({ result }) => result === 'dead-letter')
  if (rejecting.length > 0) return { kind: 'bad', text: `${share(rejecting)} would reject this event` }
  const contradicted = services.filter(isConflict)
  if (contradicted.length > 0) {
    return { kind: 'bad', text: `the edit contradicts the data of ${share(contradicted)}` }
  }
  const silent = services.filter(({ result }) => result === 'unknown')
  if (silent.length > 0) return { kind: 'warn', text: `this event is valid, but ${share(silent)} did not answer` }
  return { kind: 'good', text: 'ready: every service would accept this event' }
}
