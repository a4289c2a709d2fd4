import { get } from 'node:http'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import type { Group } from '@platformatic/kafka'
import { topics, withAdmin } from './topics.ts'

/** What a probe found missing; undefined when it is ready. */
export type Missing = string | undefined

/** Kafka answers a metadata request. */
export async function kafkaMissing(kafka: KafkaConnection): Promise<Missing> {
  try {
    await withAdmin(kafka, (admin) => admin.listTopics())
    return undefined
  } catch {
    return 'the broker does not answer yet'
  }
}

/** The service answers 200 to GET /readyz on its public port. */
export function serviceMissing(name: string, port: number): Promise<Missing> {
  return new Promise((resolve) => {
    const request = get({ host: '127.0.0.1', port, path: '/readyz', timeout: 5_000, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => {
        resolve(
          response.statusCode === 200 ? undefined : `${name} /readyz answers ${response.statusCode} ${body}`.trim(),
        )
      })
    })
    request.on('timeout', () => request.destroy(new Error('no answer within 5 s')))
    request.on('error', (error) => resolve(`${name} /readyz: ${error.message}`))
  })
}

/**
 * A consumer group really consumes: it is stable and live members hold every partition of its topics.
 * A sidecar's own health stays green when its group is denied. `stale` are members of killed sidecars, which keep their
 * partitions until their session ends.
 */
export async function groupMissing(kafka: KafkaConnection, name: string, stale: ReadonlySet<string>): Promise<Missing> {
  try {
    const groups = await withAdmin(kafka, (admin) => admin.describeGroups({ groups: [name] }))
    return unassigned(name, groups.get(name), stale)
  } catch (error) {
    return `consumer group ${name} cannot be read: ${(error as Error).message}`
  }
}

function unassigned(name: string, group: Group | undefined, stale: ReadonlySet<string>): Missing {
  if (group?.state !== 'Stable') return `consumer group ${name} is ${group?.state ?? 'missing'}`
  const members = [...group.members.values()]
  if (members.some((member) => stale.has(member.id)))
    return `consumer group ${name} waits for a killed member to time out`
  for (const topic of topics.filter((spec) => spec.consumerGroups.includes(name))) {
    const assigned = members.flatMap((member) => member.assignments?.get(topic.name)?.partitions ?? [])
    if (new Set(assigned).size < topic.partitions) {
      return `consumer group ${name} has ${assigned.length} of ${topic.partitions} partitions of ${topic.name}`
    }
  }
  return undefined
}

/** Ids of the members that the groups have now. */
export async function groupMembers(kafka: KafkaConnection, names: string[]): Promise<Set<string>> {
  const groups = await withAdmin(kafka, (admin) => admin.describeGroups({ groups: names }))
  return new Set([...groups.values()].flatMap((group) => [...group.members.keys()]))
}
