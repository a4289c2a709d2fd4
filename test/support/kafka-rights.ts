import type { KafkaConnection } from '@orderflow/cli'
import { type Acl, AclPermissionTypes, Producer, ResourcePatternTypes, ResourceTypes } from '@platformatic/kafka'

/** A rule of Kafka: this user may do this with a topic of this name, unless another kind of thing is said, or that he may not. */
export const aclOf = (
  user: string,
  resourceName: string,
  operation: Acl['operation'],
  others: Partial<Pick<Acl, 'resourceType' | 'permissionType'>> = {},
): Acl => ({
  resourceType: ResourceTypes.TOPIC,
  resourceName,
  resourcePatternType: ResourcePatternTypes.LITERAL,
  principal: `User:${user}`,
  host: '*',
  operation,
  permissionType: AclPermissionTypes.ALLOW,
  ...others,
})

/** Writes a record to a topic by a producer of its own. */
export async function write(
  kafka: KafkaConnection,
  topic: string,
  options: { idempotent?: boolean } = {},
): Promise<void> {
  const producer = new Producer({ clientId: 'rights', ...kafka, retries: 0, ...options })
  try {
    await producer.send({ messages: [{ topic, value: Buffer.from('{}') }], acks: -1 })
  } finally {
    await producer.close()
  }
}
