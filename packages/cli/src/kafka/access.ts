import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { requestOf } from '@orderflow/service-kit/kafka-request'
import type { Acl, Admin } from '@platformatic/kafka'
import { publisherRights, type Right, stackRights } from './rights.ts'
import { withAdmin } from './topics.ts'
import { transactionDenial } from './transactions.ts'
import { brokerUser, exporterUser, isServiceUser, publishUser, stackUsers } from './users.ts'

// Who may come to a Kafka that asks, and what he may do there.

/** What Kafka calls SCRAM-SHA-512 in its requests. */
const scramSha512 = 2
/** The fewest that Kafka takes. More would make up for passwords that somebody could guess: those of the stack are random. */
const iterations = 4096

/** What was changed, to be told. */
export interface AccessChanges {
  added: number
  removed: number
}

/**
 * Makes the stack's users, each with its password, and gives them exactly the rights that follow from services.json. A service that is no
 * more loses its user. Outside applications are left as they are. Denies transactions to all. May be repeated; whoever is connected stays so.
 */
export async function ensureAccess(kafka: KafkaConnection, passwords: Record<string, string>): Promise<AccessChanges> {
  return await withAdmin(kafka, async (admin) => {
    const former = (await userNames(admin)).filter((user) => isServiceUser(user) && !(user in passwords))
    await alterUsers(admin, { set: passwords, remove: former })
    const denial = await transactionDenial()
    const wanted = [...(await aclsOf(stackRights)), denial]
    const found = (await readAcls(admin)).filter((acl) => isOfStack(userOf(acl)) || keyOf(acl) === keyOf(denial))
    return await replaceAcls(admin, { wanted, found })
  })
}

const isOfStack = (user: string) => isServiceUser(user) || user === publishUser || user === exporterUser

/** Outside applications that may publish. */
export async function readPublishers(kafka: KafkaConnection): Promise<string[]> {
  return (await withAdmin(kafka, userNames)).filter((user) => !isServiceUser(user) && !stackUsers.includes(user)).sort()
}

/** Makes an outside application's user, or gives it another password; and exactly the rights of one. */
export async function setPublisher(kafka: KafkaConnection, user: string, password: string): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    await alterUsers(admin, { set: { [user]: password } })
    await replaceAcls(admin, { wanted: await aclsOf(publisherRights(user)), found: await readAcls(admin, user) })
  })
}

/** Takes an outside application's user away. A connection that it has goes on without any right. */
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

/** What the broker keeps of a password (RFC 5802): no client can log in with it. */
async function credentialOf(name: string, password: string) {
  const salt = randomBytes(32)
  const saltedPassword = await promisify(pbkdf2)(password, salt, iterations, 64, 'sha512')
  return { name, mechanism: scramSha512, iterations, salt, saltedPassword }
}

/** Adds what is missing first: who keeps a right has it at any moment. */
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
