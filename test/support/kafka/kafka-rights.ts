import type { KafkaConnection } from '@orderflow/stack'
import { type Acl, AclPermissionTypes, Producer, ResourcePatternTypes, ResourceTypes } from '@platformatic/kafka'

/** Returns a rule of Kafka. By default it allows a user an operation on the topic with this name. */
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
