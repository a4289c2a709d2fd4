import type { EventRow } from '../api/events.ts'
import type { GroupLag, MissingReaction, ServiceHealth } from '../api/system.ts'

/** What is known when somebody asks why nothing came. */
export interface Surroundings {
  services: readonly ServiceHealth[]
  groups: readonly GroupLag[]
  indexLag: number | null
  /** The dead letter of an event in an app, if there is one. */
  letterOf: (row: EventRow, app: string) => string | undefined
}

/** Why nobody has reacted, as likely as can be told from outside: what stands in the way first. */
export function likelyReason(
  row: EventRow,
  by: string,
  { services, groups, indexLag, letterOf }: Surroundings,
): MissingReaction['likely'] {
  const entry = letterOf(row, by)
  if (entry) return { why: 'dead-letter', text: `${by} could not handle it, and put it aside`, entry }
  const service = services.find(({ name }) => name === by)
  if (service && service.state !== 'ready') {
    const how =
      service.state === 'unreachable' ? 'is not reached' : `is not ready (${service.reason ?? 'it does not say why'})`
    return { why: 'service-down', text: `${by} ${how}`, entry: null }
  }
  const { topic, partition, offset } = row.place
  const group = groups.find((one) => one.group === by && one.topic === topic && one.partition === partition)
  if (group && BigInt(group.position) <= BigInt(offset)) {
    // None, where it was looked at before the event came.
    const lag = `${group.isAtMost ? 'at most ' : ''}${group.lag}`
    const behind = group.lag > 0 ? `: it is ${lag} events behind in ${topic}/${partition}` : ''
    return { why: 'lag', text: `${by} has not come to it${behind}`, entry: null }
  }
  if (indexLag === null || indexLag > 1_000) {
    const behind = indexLag === null ? 'does not know how far' : `is ${indexLag} events behind`
    return { why: 'index-behind', text: `the monitor ${behind}: the reaction may be there already`, entry: null }
  }
  return { why: 'unknown', text: `${by} has passed it, and published nothing about it`, entry: null }
}
