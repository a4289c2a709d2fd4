import { hash } from 'node:crypto'
import { deterministicId, noTenant, type Tenant } from '@orderflow/envelope'
import { stringify } from 'safe-stable-stringify'
import type { DocumentsOf } from '../state/documents.ts'
import {
  type AnyDefinition,
  documentKey,
  type documentRules,
  type EntityDocument,
  maxCauses,
  withTenant,
} from './document.ts'
import { keyReused, type RequestContext } from './entity.ts'

/** The document of an Idempotency-Key: the entity for which it was used first, and the entity's revision at that moment. */
interface Claim {
  id: string
  revision: number
  /** The fingerprint of the first input. A rebuild cannot restore it. */
  request?: string | undefined
}

interface Needs<S> {
  appId: string
  documents: DocumentsOf
  /** Reads the document of an entity. */
  documentOf: (tenant: Pick<Tenant, 'id'>, id: string) => Promise<EntityDocument<S> | undefined>
  newId: () => string
}

/** Creates the functions for the Idempotency-Keys of requests: the ids that derive from a key, and the claims of keys. */
export function createRequestKeys<S, V>(
  { name, facts }: AnyDefinition<S, V>,
  { knowsCause }: Pick<ReturnType<typeof documentRules<S, V>>, 'knowsCause'>,
  { appId, documents, documentOf, newId }: Needs<S>,
) {
  const keyId = (kind: string, tenant: Tenant, key: string): string =>
    // biome-ignore lint/plugin/no-spread-arguments: a request has at most one tenant
    deterministicId(kind, ...withTenant(tenant, [appId]), key)

  /** Reserves an Idempotency-Key for an entity. Returns the claim of its first use, and whether this is the first use. */
  function claim(tenant: Pick<Tenant, 'id'>, causeId: string, id: string, request?: string) {
    const key = `${name}-request/${causeId}/claim`
    return documents(tenant.id).change({
      key,
      beside: [documentKey(name, id)],
      bytes: 1_000,
      decide(stored) {
        const known = stored.get<Claim>(key)
        if (known) return { ...known, isFirst: false }
        const revision = stored.get<EntityDocument<S>>(documentKey(name, id))?.revision ?? 0
        const claimed = { id, revision, ...(request !== undefined && { request }) }
        stored.write(claimed)
        return { ...claimed, isFirst: true }
      },
    })
  }

  /** @throws {Refused} `idempotency-key-reused` if the key belongs to another entity, or if it is unknown whether it was used */
  async function requireKey(tenant: Tenant, causeId: string, id: string, request: string): Promise<void> {
    const { id: holder, revision, isFirst, request: first = request } = await claim(tenant, causeId, id, request)
    if (holder !== id) throw keyReused(name, holder, `for another ${name}`)
    if (first !== request) throw keyReused(name, id)
    if (isFirst || facts) return
    const document = await documentOf(tenant, id)
    const isForgotten = (document?.revision ?? 0) - revision >= maxCauses && !knowsCause(document, causeId)
    if (isForgotten) throw keyReused(name, id, 'so long ago that its result is forgotten')
  }

  const idOf = ({ tenant = noTenant, idempotencyKey }: Pick<RequestContext, 'idempotencyKey'> & { tenant?: Tenant }) =>
    idempotencyKey === undefined ? newId() : keyId(name, tenant, idempotencyKey)

  /** Returns the cause of a request's events, which is new if the request has no key. Events that occur once need a cause only for a key. */
  function causeOf(tenant: Tenant, key: string | undefined, isCreation: boolean): string | undefined {
    if (facts && (isCreation || key === undefined)) return undefined
    return key === undefined ? newId() : keyId(isCreation ? `${name}-new` : `${name}-key`, tenant, key)
  }

  return { idOf, causeOf, claim, requireKey }
}

/** Returns a short text for an input, whatever the sequence of its fields is. */
export const fingerprintOf = (input: unknown): string =>
  hash('sha256', stringify(input) ?? '', 'base64url').slice(0, 16)
