import type { ReceivedEnvelope } from '../schemas/types.ts'

/** For whom something is done. Each is empty for nobody in particular. */
export interface Tenant {
  /** TenantID: a customer of the platform, whose data others must not see. */
  id: string
  /** TenantUserID: who of the tenant. */
  userId: string
}

/** Of those who act for nobody in particular. */
export const noTenant: Tenant = { id: '', userId: '' }

/** The tenant that an envelope names. */
export function tenantOf({
  TenantID: id = '',
  TenantUserID: userId = '',
}: Pick<ReceivedEnvelope, 'TenantID' | 'TenantUserID'>): Tenant {
  return { id, userId }
}
