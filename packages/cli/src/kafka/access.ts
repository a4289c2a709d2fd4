import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { type KafkaConnection, mayBeginTransactions, protocolErrors, requestOf } from '@orderflow/service-kit/kafka'
import type { Acl, Admin } from '@platformatic/kafka'
import {
  brokerUser,
  isServiceUser,
  operatorUser,
  publisherRights,
  type Right,
  stackRights,
  stackUsers,
} from './rights.ts'
import { withAdmin } from './topics.ts'

/** The code of SCRAM-SHA-512 in Kafka's requests. */
const scramSha512 = 2
/** Kafka's minimum. More iterations would not protect random passwords better. */
const iterations = 4096

interface AccessChanges {
  added: number
  removed: number
}

/**
 * Creates the stack's users with exactly the rights that follow from services.json. Denies transactions to all users. Outside publishers stay
 * unchanged, and so does the user of this connection.
 * @param isOwn true to remove the users of removed services. On a Kafka of others, users with such names may belong to other applications
 */
export async function ensureAccess(
  kafka: KafkaConnection,
  passwords: Record<string, string>,
  { isOwn = true } = {},
): Promise<AccessChanges> {
  return await withAdmin(kafka, async (admin) => {
    const isOfStack = (user: string) =>
      user in passwords ? user !== operatorUser : isOwn && isServiceUser(user) && user !== kafka.sasl?.username
    const former = (await userNames(admin)).filter((user) => isOfStack(user) && !(user in passwords))
    const { [kafka.sasl?.username ?? '']: _, ...others } = passwords
    await alterUsers(admin, { set: others, remove: former })
    const denial = await transactionDenial()
    const wanted = [...(await aclsOf(stackRights)), denial]
    const found = (await readAcls(admin)).filter((acl) => isOfStack(userOf(acl)) || keyOf(acl) === keyOf(denial))
    return await replaceAcls(admin, { wanted, found })
  })
}

export async function readPublishers(kafka: KafkaConnection): Promise<string[]> {
  return (await withAdmin(kafka, userNames)).filter((user) => !isServiceUser(user) && !stackUsers.includes(user)).sort()
}

/** Creates an outside publisher or changes its password. Gives it exactly a publisher's rights. */
export async function setPublisher(kafka: KafkaConnection, user: string, password: string): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    await alterUsers(admin, { set: { [user]: password } })
    await replaceAcls(admin, { wanted: await aclsOf(publisherRights(user)), found: await readAcls(admin, user) })
  })
}

/** Removes an outside publisher. Connections of this publisher stay open, but lose their rights. */
export async function removePublisher(kafka: KafkaConnection, user: string): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    await replaceAcls(admin, { wanted: [], found: await readAcls(admin, user) })
    await alterUsers(admin, { remove: [user] })
  })
}

async function userNames(admin: Admin): Promise<string[]> {
  const { results } = await requestOf<{ results: { user: string }[] }>(admin, 'DescribeUserScramCredentials', [])
  return results.map(({ user }) => user).filter((user) => user !== brokerUser)
}

interface UserChanges {
  set?: Record<string, string>
  remove?: string[]
}

async function alterUsers(admin: Admin, { set = {}, remove = [] }: UserChanges): Promise<void> {
  const upserts = await Promise.all(Object.entries(set).map(([name, password]) => credentialOf(name, password)))
  const deletions = remove.map((name) => ({ name, mechanism: scramSha512 }))
  await requestOf(admin, 'AlterUserScramCredentials', deletions, upserts)
}

/** Returns the credential that the broker stores (RFC 5802). Clients cannot log in with it. */
async function credentialOf(name: string, password: string) {
  const salt = randomBytes(32)
  const saltedPassword = await promisify(pbkdf2)(password, salt, iterations, 64, 'sha512')
  return { name, mechanism: scramSha512, iterations, salt, saltedPassword }
}

/** Adds missing rights before it removes other rights, so that users keep the rights that they need. */
async function replaceAcls(admin: Admin, { wanted, found }: Record<'wanted' | 'found', Acl[]>): Promise<AccessChanges> {
  const [wantedKeys, foundKeys] = [wanted, found].map((acls) => new Set(acls.map(keyOf)))
  const missing = wanted.filter((acl) => !foundKeys?.has(keyOf(acl)))
  const excess = found.filter((acl) => !wantedKeys?.has(keyOf(acl)))
  if (missing.length > 0) await admin.createAcls({ creations: missing })
  if (excess.length > 0) await admin.deleteAcls({ filters: excess })
  return { added: missing.length, removed: excess.length }
}

const keyOf = (acl: Acl) => JSON.stringify(Object.entries(acl).sort())

const userOf = ({ principal }: Pick<Acl, 'principal'>) => principal.replace(/^User:/, '')

async function readAcls(admin: Admin, user?: string): Promise<Acl[]> {
  const { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } = await import('@platformatic/kafka')
  const resources = await admin.describeAcls({
    filter: {
      resourceType: ResourceTypes.ANY,
      resourceName: null,
      resourcePatternType: ResourcePatternTypes.ANY,
      principal: user === undefined ? null : `User:${user}`,
      host: null,
      operation: AclOperations.ANY,
      permissionType: AclPermissionTypes.ANY,
    },
  })
  return resources.flatMap(({ acls, resourceType, resourceName, resourcePatternType }) =>
    acls.map(({ principal, host, operation, permissionType }) => ({
      resourceType,
      resourceName,
      resourcePatternType,
      principal,
      host,
      operation,
      permissionType,
    })),
  )
}

async function aclsOf(rights: readonly Right[]): Promise<Acl[]> {
  const { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } = await import('@platformatic/kafka')
  const { READ: read, WRITE: write, DESCRIBE: describe, DESCRIBE_CONFIGS: describeConfigs } = AclOperations
  const operations = { read, write, describe, describeConfigs }
  return rights.map(({ user, resource, name, operation }) => ({
    resourceType: resource === 'topic' ? ResourceTypes.TOPIC : ResourceTypes.GROUP,
    resourceName: name,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${user}`,
    host: '*',
    operation: operations[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }))
}

// Kafka refuses transactions, because Dapr 1.18 also delivers records of open and aborted transactions (docs/adr/0033-refuse-kafka-transactions.md).

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

const transactionDenialOptions = `--deny-principal 'User:*' --transactional-id '*' --operation All`

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
    const denial = await transactionDenial()
    const isDenied = rules.some((rule) => isSame(rule, denial))
    return isDenied ? undefined : `no rule of Kafka denies transactions to every user: ${nextStep}`
  })
}

const isSame = (rule: Acl, other: Acl) =>
  (Object.keys(other) as (keyof Acl)[]).every((field) => rule[field] === other[field])

/** Returns the rules for transactions. `none` means that Kafka has no authorizer, `unreadable` that only other users may read the rules. */
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

/** The names of operations in Kafka's own tools. */
export const operationNames = {
  read: 'Read',
  write: 'Write',
  describe: 'Describe',
  describeConfigs: 'DescribeConfigs',
} as const

/** Returns one command of kafka-acls.sh for each user, resource and name. */
export function aclCommands(rights: readonly Right[]): string[] {
  const byTarget = Map.groupBy(
    rights,
    ({ user, resource, name }) => `--allow-principal User:${user} --${resource} ${name}`,
  )
  return [...byTarget].map(([target, all]) => {
    const allowed = all.map(({ operation }) => `--operation ${operationNames[operation]}`).join(' ')
    return aclCommand(`${target} ${allowed}`)
  })
}

export const denyTransactionsCommand = () => aclCommand(transactionDenialOptions)

const aclCommand = (options: string) =>
  `kafka-acls.sh --bootstrap-server "$Stream__Brokers" --command-config admin.properties --add ${options}`
