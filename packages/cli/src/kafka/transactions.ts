import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { protocolErrors } from '@orderflow/service-kit/kafka-request'
import { mayBeginTransactions } from '@orderflow/service-kit/kafka-transactions'
import type { Acl, Admin } from '@platformatic/kafka'
import { withAdmin } from './topics.ts'

// Dapr's Kafka component reads the records of a transaction before it ends, and those of an aborted one as well. There is no setting for
// it in Dapr 1.18. So Kafka refuses transactions (docs/adr/0033-refuse-kafka-transactions.md).

/** Kafka's rule that refuses transactions to every user except its super users. A denial outranks whatever a rule allows. */
export async function transactionDenial(): Promise<Acl> {
  const { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } = await import('@platformatic/kafka')
  return {
    resourceType: ResourceTypes.TRANSACTIONAL_ID,
    resourceName: '*',
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: 'User:*',
    host: '*',
    // To describe one as well: a producer is refused at its first request then, before the broker makes a topic for transactions.
    operation: AclOperations.ALL,
    permissionType: AclPermissionTypes.DENY,
  }
}

/** The same rule as options of Kafka's own tool. */
export const transactionDenialOptions = `--deny-principal 'User:*' --transactional-id '*' --operation All`

/** Gives Kafka the rule. Kafka ignores a rule that it has. */
export async function denyTransactions(kafka: KafkaConnection): Promise<void> {
  const creations = [await transactionDenial()]
  await withAdmin(kafka, (admin) => admin.createAcls({ creations }))
}

const nextStep = './orderflow acls prints the rule that denies them (docs/publishing.md#transactions)'

/**
 * Returns a warning when publishers may be able to begin transactions, and undefined when none can or when nothing is known. Reads Kafka's
 * rules where this user may describe the cluster, and otherwise asks whether this user may begin a transaction.
 */
export async function transactionsWarning(kafka: KafkaConnection): Promise<string | undefined> {
  return await withAdmin(kafka, async (admin) => {
    const rules = await readRules(admin)
    if (rules === 'none') return `Kafka has no authorizer, so any publisher may begin transactions: ${nextStep}`
    if (rules === 'unreadable') {
      const isAllowed = await mayBeginTransactions(admin)
      return isAllowed ? `Kafka lets this user begin transactions, so publishers may too: ${nextStep}` : undefined
    }
    const denial = await transactionDenial()
    const isDenied = rules.some((rule) => isSame(rule, denial))
    return isDenied ? undefined : `no rule of Kafka denies transactions to every user: ${nextStep}`
  })
}

const isSame = (rule: Acl, other: Acl) =>
  (Object.keys(other) as (keyof Acl)[]).every((field) => rule[field] === other[field])

/** Reads the rules for transactions; `none` where Kafka has no authorizer, `unreadable` where this user may not see them. */
async function readRules(admin: Admin): Promise<Acl[] | 'none' | 'unreadable'> {
  const { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } = await import('@platformatic/kafka')
  const filter = {
    resourceType: ResourceTypes.TRANSACTIONAL_ID,
    resourceName: null,
    resourcePatternType: ResourcePatternTypes.ANY,
    principal: null,
    host: null,
    operation: AclOperations.ANY,
    permissionType: AclPermissionTypes.ANY,
  }
  try {
    const resources = await admin.describeAcls({ filter })
    return resources.flatMap(({ acls, ...resource }) => acls.map((acl) => ({ ...resource, ...acl })))
  } catch (error) {
    const names = protocolErrors(error)
    if (names.includes('SECURITY_DISABLED')) return 'none'
    if (names.includes('CLUSTER_AUTHORIZATION_FAILED')) return 'unreadable'
    throw error
  }
}
