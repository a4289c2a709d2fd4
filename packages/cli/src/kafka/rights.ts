import { deadLetterTopic } from '@orderflow/envelope'
import { doesConsume, outsideTopics, type Service, services } from '../lib/services.ts'
import { exporterUser, publishUser } from './users.ts'

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
