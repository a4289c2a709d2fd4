import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { type KafkaConnection, protocolErrors, requestOf, withAdmin } from '@orderflow/kafka-log'
import type { Acl, Admin } from '@platformatic/kafka'
import { services } from '../application/services.ts'
import { keyOf, readAcls, userOf } from './acls.ts'
import {
  brokerUser,
  isServiceUser,
  operatorUser,
  publisherRights,
  type Right,
  serviceRights,
  stackRights,
  stackUsers,
} from './rights.ts'
import { transactionDenial, transactionDenialOptions } from './transactions.ts'

/** The code of SCRAM-SHA-512 in Kafka's requests. */
const scramSha512 = 2
/** Kafka's minimum. More iterations would not protect random passwords better. */
const iterations = 4096

interface AccessChanges {
  added: number
  removed: number
}

/**
 * Creates the stack's users with exactly the rights that follow from services.json. Outside publishers stay unchanged, and so does the user of this
 * connection.
 * @param isOwn true to remove the users of removed services, and to deny transactions to all users. On a Kafka of others, users with such names
 * may belong to other applications, which may need transactions
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
    const denials = isOwn ? [await transactionDenial()] : []
    const wanted = [...(await aclsOf(stackRights)), ...denials]
    const keys = new Set(denials.map(keyOf))
    const found = (await readAcls(admin)).filter((acl) => isOfStack(userOf(acl)) || keys.has(keyOf(acl)))
    return await replaceAcls(admin, { wanted, found })
  })
}

/** Returns the users of the stack that Kafka lacks. */
export async function missingUsers(kafka: KafkaConnection): Promise<string[]> {
  const known = await withAdmin(kafka, userNames)
  return stackUsers.filter((user) => user !== kafka.sasl?.username && !known.includes(user))
}

/**
 * Returns a line if Kafka lacks users of the stack, or refuses the user of this connection. A Kafka that lost its data has lost its users, too, and
 * sidecars then end as soon as they start.
 * @throws {Error} if Kafka does not answer, or denies this user the list of users
 */
export async function userTroubles(kafka: KafkaConnection): Promise<string[]> {
  try {
    const missing = await missingUsers(kafka)
    return missing.length === 0 ? [] : [`Kafka has lost its users ${missing.join(', ')}: make up creates them again`]
  } catch (error) {
    if (!protocolErrors(error).includes('SASL_AUTHENTICATION_FAILED')) throw error
    return [
      `Kafka refuses the user ${kafka.sasl?.username} or its password: if Kafka has lost its users, first create this one`,
    ]
  }
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

/** Returns the commands that grant all rights at your own Kafka, or only those of an outside publisher. */
export const grantingCommands = (publisher: string | undefined): string[] =>
  publisher === undefined
    ? // The last rule applies to all users of Kafka, not to one publisher.
      [...aclCommands(services.flatMap(serviceRights)), denyTransactionsCommand()]
    : aclCommands(publisherRights(publisher))

const aclCommand = (options: string) =>
  `kafka-acls.sh --bootstrap-server "$Stream__Brokers" --command-config admin.properties --add ${options}`
