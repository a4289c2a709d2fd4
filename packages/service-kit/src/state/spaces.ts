import { createHash } from 'node:crypto'

/** Returns the prefix of a tenant's keys. The tenant's name is hashed, because publishers choose the name: it may be long, or contain a slash. */
export const spaceOf = (tenant: string): string =>
  tenant === '' ? '' : `tenant/${createHash('sha256').update(tenant).digest('base64url')}/`

/** Returns a full key without the prefix of its tenant. */
export const keyIn = (fullKey: string): string => fullKey.replace(/^tenant\/[^/]*\//, '')

/** Returns the name of the entity in the full key of a document. */
export const nameIn = (fullKey: string): string => keyIn(fullKey).split('/', 1)[0] as string
