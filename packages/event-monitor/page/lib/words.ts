import type { DelayReason, GroupLag, HealthView, Problem, Unreadable } from '../../src/api/index.ts'
import { count } from './format.ts'
import { positionText } from './route.ts'

interface GroupSum extends Pick<GroupLag, 'group' | 'topic' | 'lag' | 'isAtMost'> {
  partitions: GroupLag[]
}

export const lagText = ({ lag, isAtMost }: Pick<GroupLag, 'lag' | 'isAtMost'>): string =>
  `${isAtMost ? 'at most ' : ''}${count(lag)}`

export function summedLags(groups: readonly GroupLag[]): GroupSum[] {
  const byTopic = Map.groupBy(groups, ({ group, topic }) => `${group} ${topic}`)
  const sums = Array.from(byTopic.values(), (partitions): GroupSum => {
    const { group, topic } = partitions[0] as GroupLag
    const lag = partitions.reduce((sum, each) => sum + each.lag, 0)
    return { group, topic, lag, isAtMost: partitions.some(({ isAtMost }) => isAtMost), partitions }
  })
  return sums.sort((one, other) => other.lag - one.lag)
}

export const unreadableText = ({ topic, partition }: Unreadable): string =>
  partition === null ? topic : `${topic}/${partition}`

export function troubles({ kafka, services, index, settings, complete }: HealthView): string[] {
  const broker = kafka.isUp ? [] : [`Kafka does not answer${kafka.error ? `: ${kafka.error}` : ''}`]
  return [
    ...broker,
    // Omits the error of the index while Kafka is down, because the index then fails, too.
    ...(kafka.isUp && index.error ? [`The monitor does not index new events: ${index.error}`] : []),
    ...settings,
    ...(kafka.isUp && kafka.error ? [`Kafka is up, but ${kafka.error}`] : []),
    ...complete.unreadable.map((one) => `The monitor does not read ${unreadableText(one)}: ${one.why}`),
    ...services.flatMap(({ name, state, reason, sidecar, warnings, redelivered }) => [
      ...(state === 'ready' ? [] : [`${name} is ${state}${reason ? `: ${reason}` : ''}`]),
      ...(sidecar === 'down' ? [`The sidecar of ${name} is down`] : []),
      ...warnings.map((warning) => `${name}: ${warning}`),
      ...redelivered.map((position) => `${name} cannot handle ${positionText(position)}`),
    ]),
  ]
}

/** The reasons why a deadline whose time has come has not led to its decision. */
export const delayWords: Record<DelayReason, string> = {
  undecided: 'has passed, and is not decided: see “Undecided” below',
  clock: 'the time of the log is unknown, because Kafka does not answer the service',
  lag: 'the service has too many passed deadlines that it has not handled',
  takeover: 'its replica has ended, and another one takes over within 30 seconds',
  retry: 'it could not be fired: see the log of the service. It is tried again every minute',
  firing: 'passes now, the oldest first',
}

export function nextStepOf({ status }: Pick<Problem, 'status'>): string {
  if (status === 0)
    return 'Run make status to see if the monitor is running, or make up to start it. This page tries again automatically.'
  if (status === 401) return 'Sign in with an API key or a token that has events:read.'
  if (status === 403)
    return 'Sign in with a key or token that has this scope. To create a key, run ./orderflow api-key (docs/access.md).'
  if (status === 404) return 'Use the search above to find a GUID or a word.'
  if (status === 409) return 'The data has changed in the meantime. Reload the page and check the data again.'
  if (status === 429) return 'Too many requests. Wait a moment.'
  if (status >= 500) return 'Run make logs SERVICE=event-monitor for details. This page tries again automatically.'

  return 'Correct the address or your input.'
}
