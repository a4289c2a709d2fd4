import type { GroupLag, HealthView, Problem, Unreadable } from '../../src/api/index.ts'
import { count } from './format.ts'
import { positionText } from './route.ts'

/** A group's lag in a topic, of all its partitions. */
interface GroupSum {
  group: string
  topic: string
  lag: number
  isAtMost: boolean
  partitions: GroupLag[]
}

/** Returns a lag in words: a bound, where the events are too many to be counted. */
export const lagText = ({ lag, isAtMost }: Pick<GroupLag, 'lag' | 'isAtMost'>): string =>
  `${isAtMost ? 'at most ' : ''}${count(lag)}`

/** Partitions of a group and topic as one, the largest lag first. */
export function summedLags(groups: readonly GroupLag[]): GroupSum[] {
  const sums = new Map<string, GroupSum>()
  for (const each of groups) {
    const id = `${each.group} ${each.topic}`
    const sum = sums.get(id) ?? { group: each.group, topic: each.topic, lag: 0, isAtMost: false, partitions: [] }
    sum.lag += each.lag
    sum.isAtMost ||= each.isAtMost
    sum.partitions.push(each)
    sums.set(id, sum)
  }
  return [...sums.values()].sort((one, other) => other.lag - one.lag)
}

/** Names a partition that cannot be read, or a topic. */
export const unreadableText = ({ topic, partition }: Unreadable): string =>
  partition === null ? topic : `${topic}/${partition}`

/** What is wrong, in a line each; empty when all is well. */
export function troubles({ kafka, services, index, settings, complete }: HealthView): string[] {
  const broker = kafka.isUp ? [] : [`Kafka does not answer${kafka.error ? `: ${kafka.error}` : ''}`]
  return [
    ...broker,
    // Without Kafka nothing can be indexed: one line says so already.
    ...(kafka.isUp && index.error ? [`The monitor does not index new events: ${index.error}`] : []),
    ...settings,
    ...(kafka.isUp && kafka.error ? [`Kafka is up, but ${kafka.error}`] : []),
    ...complete.unreadable.map((one) => `The monitor does not read ${unreadableText(one)}: ${one.why}`),
    ...services.flatMap(({ name, state, reason, sidecar, redelivered }) => [
      ...(state === 'ready' ? [] : [`${name} is ${state}${reason ? `: ${reason}` : ''}`]),
      ...(sidecar === 'down' ? [`The sidecar of ${name} is down`] : []),
      ...redelivered.map((position) => `${name} cannot handle ${positionText(position)}`),
    ]),
  ]
}

/** What somebody may do about an answer that is none; by its status, where the problem does not say it itself. */
export function nextStepOf({ status }: Pick<Problem, 'status'>): string {
  if (status === 0)
    return 'make status says whether the monitor runs; make up starts what is missing. This page asks again by itself.'
  if (status === 401) return 'The monitor asks who you are: sign in with an API key or a token that has events:read.'
  if (status === 403)
    return 'Sign out, then in with a key or token that has it: ./orderflow api-key makes one (docs/access.md).'
  if (status === 404) return 'Search for it above, by any GUID or word that you know of it.'
  if (status === 409) return 'Somebody changed it meanwhile: reload, and look at it again.'
  if (status === 429) return 'Too much was asked at once: wait a moment.'
  if (status >= 500) return 'make logs SERVICE=event-monitor says more. This page asks again by itself.'
  return 'Change it in the address or in what you wrote.'
}
