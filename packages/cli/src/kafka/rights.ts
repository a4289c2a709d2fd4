import { deadLetterTopic } from '@orderflow/envelope'
import { doesConsume, outsideTopics, type Service, services } from '../lib/services.ts'

// Who there is at a Kafka that asks: each service by its own name, and these.

/** The broker itself, on its own loopback, by which the others are made. */
export const brokerUser = 'broker'
/** The administrator of the stack and its dead letters, with all rights. */
export const operatorUser = 'operator'
/** The outside application that `./orderflow publish` is. */
export const publishUser = 'publisher'
/**
 * The user of the exporter (packages/cli/src/observe/exporter.ts), which reports how far each group is behind. It reads
 * what services consume.
 */
export const exporterUser = 'exporter'

/** Users that the stack makes, and gives the rights that follow from services.json. */
export const stackUsers: readonly string[] = [
  operatorUser,
  publishUser,
  exporterUser,
  ...services.map(({ name }) => name),
]

/**
 * The ending that services' names have, and no application's outside may: what has it and is no service (any more) has
 * no rights.
 */
const serviceEnding = '-service'

const serviceNames = new Set(services.map(({ name }) => name))

/** Returns whether a user belongs to a service, including one that services.json no longer has. */
export const isServiceUser = (user: string): boolean => user.endsWith(serviceEnding) || serviceNames.has(user)

const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const maxLength = 40

/** Returns why a name cannot be that of an outside application; undefined if it can. */
export function nameProblem(name: string): string | undefined {
  if (!form.test(name) || name.length > maxLength) {
    return `a name is at most ${maxLength} lower-case letters and digits, in words with hyphens between them`
  }
  if (isServiceUser(name)) return `names that end in ${serviceEnding}, or stand in services.json, are those of services`
  return [brokerUser, ...stackUsers].includes(name) ? 'the stack has a user of that name itself' : undefined
}

/**
 * A right of a user at a Kafka with authentication. The rights to read and to write a topic include the right to see
 * it.
 */
export interface Right {
  user: string
  resource: 'topic' | 'group'
  name: string
  operation: 'read' | 'write' | 'describe' | 'describeConfigs'
}

/**
 * Returns the rights that follow from a service's entry in services.json. It reads what it consumes, and what it produces: its store is rebuilt from its own
 * announcements. It writes what it produces, and dead letters of what it consumes; those that it wrote it reads, for a rebuild leaves
 * them aside. Its consumer group is its own. One that consumes nothing has nothing to rebuild, and only writes.
 */
export function serviceRights({
  name: user,
  consumes,
  produces,
}: Pick<Service, 'name' | 'consumes' | 'produces'>): Right[] {
  const consumed = Object.keys(consumes)
  const written = [...produces, ...consumed.map(deadLetterTopic)].map((name) => topicRight(user, name, 'write'))
  if (consumed.length === 0) return written
  const read = [...new Set([...consumed, ...produces])]
  return [
    ...read.flatMap((name) => [topicRight(user, name, 'read'), topicRight(user, deadLetterTopic(name), 'read')]),
    ...written,
    { user, resource: 'group', name: user, operation: 'read' },
  ]
}

/** Returns the rights of an outside application: to write the topics that are open to it. */
export function publisherRights(user: string): Right[] {
  return outsideTopics.map((name) => topicRight(user, name, 'write'))
}

/**
 * Returns the rights of the exporter: it sees how far each topic goes, and each service in it; and read what services consume. Only records say whether one
 * is left to be handled, for offsets also count what is never delivered (packages/service-kit/src/operations/unread.ts).
 */
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
 * Returns the rights of a service that watches the others: it may read all topics and their settings, see how far each service is, and write where events and
 * dead letters go back to.
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

/** All that anybody may do whom the stack makes; but for the operator, who may do everything. */
export const stackRights: readonly Right[] = [
  ...services.flatMap(serviceRights),
  ...services.filter(({ watches }) => watches).flatMap(({ name }) => watcherRights(name, services)),
  ...publisherRights(publishUser),
  ...exporterRights(services),
]
