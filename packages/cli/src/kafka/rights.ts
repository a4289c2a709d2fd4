import { deadLetterTopic } from '@orderflow/envelope'
import { doesConsume, outsideTopics, type Service, services } from '../lib/services.ts'

// Who there is at a Kafka that asks: each service by its own name, and these.

/** The broker itself, on its own loopback, by which the others are made. */
export const brokerUser = 'broker'
/** Whoever administers the stack and looks after its dead letters: he may do everything. */
export const operatorUser = 'operator'
/** The outside application that `./orderflow publish` is. */
export const publishUser = 'publisher'
/** The user of the exporter (packages/cli/src/observe/exporter.ts), which reports how far each group is behind. It reads what services consume. */
export const exporterUser = 'exporter'

/** Users that the stack makes, and gives the rights that follow from services.json. */
export const stackUsers: readonly string[] = [
  operatorUser,
  publishUser,
  exporterUser,
  ...services.map(({ name }) => name),
]

/** The ending that services' names have, and no application's outside may: what has it and is no service (any more) has no rights. */
const serviceEnding = '-service'

const serviceNames = new Set(services.map(({ name }) => name))

/** Whether a user is a service's, also of one with the ending that services.json had once. */
export const isServiceUser = (user: string): boolean => user.endsWith(serviceEnding) || serviceNames.has(user)

const form = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const maxLength = 40

/** What keeps a name from being that of an outside application; undefined when nothing does. */
export function nameProblem(name: string): string | undefined {
  if (!form.test(name) || name.length > maxLength) {
    return `a name is at most ${maxLength} lower-case letters and digits, in words with hyphens between them`
  }
  if (isServiceUser(name)) return `names that end in ${serviceEnding}, or stand in services.json, are those of services`
  return [brokerUser, ...stackUsers].includes(name) ? 'the stack has a user of that name itself' : undefined
}

/** What a user may do at a Kafka that asks. Who may read or write a topic may also see that it is there. */
export interface Right {
  user: string
  resource: 'topic' | 'group'
  name: string
  operation: 'read' | 'write' | 'describe' | 'describeConfigs'
}

/**
 * What follows from a service's entry in services.json. It reads what it consumes, and what it produces: its store is rebuilt from its own
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

/** What an application outside the platform may do: write where outside applications write. */
export function publisherRights(user: string): Right[] {
  return outsideTopics.map((name) => topicRight(user, name, 'write'))
}

/**
 * What the exporter may do: see how far each topic goes, and each service in it; and read what services consume. Only records say whether one
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
 * What a service may do that watches the others: read all topics and their settings, see how far each service is, and write where events and
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
