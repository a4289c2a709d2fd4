import { deadLetterTopic } from '@orderflow/envelope'
import { clockTopic } from '@orderflow/service-kit/log'
import { doesConsume, hasClock, outsideTopics, type Service, services } from '../application/services.ts'

// The users of a Kafka with authentication are the services and the following users.

/** The broker, which creates the other users over loopback. */
export const brokerUser = 'broker'
/** The operator, who has all rights. */
export const operatorUser = 'operator'
/** The outside publisher of `./orderflow publish`. */
export const publishUser = 'publisher'
/** The exporter, which measures the lag of consumer groups (packages/stack/src/observe/exporter.ts). */
export const exporterUser = 'exporter'

export const stackUsers: readonly string[] = [
  operatorUser,
  publishUser,
  exporterUser,
  ...services.map(({ name }) => name),
]

/** The end of a service user's name. The name of an outside publisher must end differently. */
const serviceEnding = '-service'

const serviceNames = new Set(services.map(({ name }) => name))

/** Returns true also for users of removed services. */
export const isServiceUser = (user: string): boolean => user.endsWith(serviceEnding) || serviceNames.has(user)

const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const maxLength = 40

/** Returns the reason if an outside publisher must not have this name. */
export function nameProblem(name: string): string | undefined {
  if (!form.test(name) || name.length > maxLength) {
    return `a name has at most ${maxLength} characters: words of lower-case letters and digits, joined by hyphens`
  }
  if (isServiceUser(name)) return `names that end in ${serviceEnding} or are in services.json belong to services`
  return [brokerUser, ...stackUsers].includes(name) ? 'the stack has its own user of this name' : undefined
}

/** The rights to read and to write a topic include the right to describe it. */
export interface Right {
  user: string
  resource: 'topic' | 'group'
  name: string
  operation: 'read' | 'write' | 'describe' | 'describeConfigs'
}

/**
 * Returns the rights of a service. It writes the topics that it produces, and the dead letters of consumed topics. A consumer reads the consumed and
 * produced topics, and their dead letters. It needs both for a rebuild, which leaves out events that are dead letters. A service with deadlines or calls reads
 * the time of the log, and compares the retention of its topics with its deadlines.
 */
export function serviceRights({
  name: user,
  consumes,
  produces,
  ...waits
}: Pick<Service, 'name' | 'consumes' | 'produces' | 'deadlines' | 'calls'>): Right[] {
  const consumed = Object.keys(consumes)
  const written = [...produces, ...consumed.map(deadLetterTopic)].map((name) => topicRight(user, name, 'write'))
  if (consumed.length === 0) return written
  const read = [...new Set([...consumed, ...produces])]
  return [
    ...read.flatMap((name) => [topicRight(user, name, 'read'), topicRight(user, deadLetterTopic(name), 'read')]),
    ...written,
    ...(hasClock(waits)
      ? [
          topicRight(user, clockTopic, 'read'),
          topicRight(user, clockTopic, 'write'),
          ...read.map((name) => topicRight(user, name, 'describeConfigs')),
        ]
      : []),
    { user, resource: 'group', name: user, operation: 'read' },
  ]
}

export function publisherRights(user: string): Right[] {
  return outsideTopics.map((name) => topicRight(user, name, 'write'))
}

/** Returns the rights of the exporter, which reads consumed topics to count unhandled records (`unreadIn` in packages/kafka-log). */
export function exporterRights(all: readonly Pick<Service, 'name' | 'consumes' | 'produces'>[]): Right[] {
  const consumed = new Set(all.flatMap(({ consumes }) => Object.keys(consumes)))
  const names = new Set([...consumed, ...all.flatMap(({ produces }) => produces)])
  return [
    ...[...names]
      .flatMap((name) => [name, deadLetterTopic(name)])
      .map((name) => topicRight(exporterUser, name, consumed.has(name) ? 'read' : 'describe')),
    ...all.filter(doesConsume).map(({ name }) => ({
      user: exporterUser,
      resource: 'group' as const,
      name,
      operation: 'describe' as const,
    })),
  ]
}

/**
 * Returns the rights of a monitor, which reads all topics, the settings of topics and the positions of groups. It writes replayed events and dead
 * letters.
 */
export function watcherRights(user: string, all: readonly Pick<Service, 'name' | 'consumes' | 'produces'>[]): Right[] {
  const names = [...new Set(all.flatMap(({ consumes, produces }) => [...Object.keys(consumes), ...produces]))]
  const groups = all.filter(doesConsume)
  return [
    ...names.flatMap((name) =>
      [name, deadLetterTopic(name)].flatMap((topic) => [
        topicRight(user, topic, 'read'),
        topicRight(user, topic, 'write'),
        topicRight(user, topic, 'describeConfigs'),
      ]),
    ),
    ...groups.map(({ name }) => ({ user, resource: 'group' as const, name, operation: 'describe' as const })),
  ]
}

const topicRight = (user: string, name: string, operation: Right['operation']): Right => ({
  user,
  resource: 'topic',
  name,
  operation,
})

/** The rights of the stack's users, except the operator, who may do everything. */
export const stackRights: readonly Right[] = [
  ...services.flatMap(serviceRights),
  ...services.filter(({ watches }) => watches).flatMap(({ name }) => watcherRights(name, services)),
  ...publisherRights(publishUser),
  ...exporterRights(services),
]
