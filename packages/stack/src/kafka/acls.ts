import type { Acl, Admin } from '@platformatic/kafka'

/** Returns a text that is equal for equal rules. */
export const keyOf = (acl: Acl): string => JSON.stringify(Object.entries(acl).sort())

export const userOf = ({ principal }: Pick<Acl, 'principal'>): string => principal.replace(/^User:/, '')

/** Returns all rules of Kafka, or those of one user. */
export async function readAcls(admin: Admin, user?: string): Promise<Acl[]> {
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
    acls.map((acl) => ({ ...acl, resourceType, resourceName, resourcePatternType })),
  )
}
