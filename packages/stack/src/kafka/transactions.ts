import { type KafkaConnection, mayBeginTransactions, protocolErrors, withAdmin } from '@orderflow/kafka-log'
import type { Acl, Admin } from '@platformatic/kafka'
import { keyOf, readAcls, userOf } from './acls.ts'
import { topics } from './topics.ts'

// Services must not get records of transactions, because Dapr 1.18 also delivers those of open and aborted transactions
// (docs/adr/0033-refuse-kafka-transactions.md).

/** Returns the rule that denies transactions to every user except super users. Kafka applies this rule before all others. */
export async function transactionDenial(): Promise<Acl> {
  const { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } = await import('@platformatic/kafka')
  return {
    resourceType: ResourceTypes.TRANSACTIONAL_ID,
    resourceName: '*',
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: 'User:*',
    host: '*',
    // Also denies the operation Describe. A client's first request then fails before the broker creates the internal topic for transactions.
    operation: AclOperations.ALL,
    permissionType: AclPermissionTypes.DENY,
  }
}

/** The same rule for kafka-acls.sh. */
export const transactionDenialOptions = `--deny-principal 'User:*' --transactional-id '*' --operation All`

export async function denyTransactions(kafka: KafkaConnection): Promise<void> {
  const creations = [await transactionDenial()]
  await withAdmin(kafka, (admin) => admin.createAcls({ creations }))
}

const nextStep = './orderflow acls prints the rule that denies them (docs/publishing.md#transactions)'

/**
 * Returns a warning if publishers may begin transactions. If this user may read Kafka's rules, it checks the rules. Otherwise it tries to begin a
 * transaction.
 */
export async function transactionsWarning(kafka: KafkaConnection): Promise<string | undefined> {
  return await withAdmin(kafka, async (admin) => {
    const rules = await readRules(admin)
    if (rules === 'none') return `Kafka has no authorizer, so any publisher may begin transactions: ${nextStep}`
    if (rules === 'unreadable') {
      const isAllowed = await mayBeginTransactions(admin)
      return isAllowed ? `Kafka lets this user begin transactions, so publishers may, too: ${nextStep}` : undefined
    }
    const denial = keyOf(await transactionDenial())
    if (rules.some((rule) => keyOf(rule) === denial)) return undefined
    // If Kafka asks for no password, everyone may begin transactions until a rule denies them.
    if (!kafka.sasl) return `no rule of Kafka denies transactions to every user: ${nextStep}`
    const users = await publishersWithTransactions(rules)
    if (users.length === 0) return undefined
    return `Kafka lets ${users.join(', ')} begin transactions, and write to topics of services: ${nextStep}`
  })
}

/** Returns all rules. `none` means that Kafka has no authorizer, `unreadable` that only other users may read the rules. */
async function readRules(admin: Admin): Promise<Acl[] | 'none' | 'unreadable'> {
  try {
    return await readAcls(admin)
  } catch (error) {
    const names = protocolErrors(error)
    if (names.includes('SECURITY_DISABLED')) return 'none'
    if (names.includes('CLUSTER_AUTHORIZATION_FAILED')) return 'unreadable'
    throw error
  }
}

/** Returns the users who may begin transactions and write to a topic of services. The user `*` stands for all users. */
async function publishersWithTransactions(rules: readonly Acl[]): Promise<string[]> {
  const { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } = await import('@platformatic/kafka')
  const { WRITE, ALL } = AclOperations
  const usersOf = (mayUse: (rule: Acl) => boolean) =>
    new Set(
      rules
        .filter(({ operation }) => operation === WRITE || operation === ALL)
        .filter((rule) => rule.permissionType === AclPermissionTypes.ALLOW && mayUse(rule))
        .map(userOf),
    )
  const beginners = usersOf(({ resourceType }) => resourceType === ResourceTypes.TRANSACTIONAL_ID)
  const writers = usersOf(
    ({ resourceType, resourcePatternType, resourceName }) =>
      resourceType === ResourceTypes.TOPIC &&
      topics.containers.some(({ name }) =>
        resourcePatternType === ResourcePatternTypes.PREFIXED
          ? name.startsWith(resourceName)
          : [name, '*'].includes(resourceName),
      ),
  )
  const isIn = (users: Set<string>, user: string) => users.has(user) || users.has('*')
  return [...new Set([...beginners, ...writers])].filter((user) => isIn(beginners, user) && isIn(writers, user)).sort()
}
