import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { ReceivedEnvelope } from '@orderflow/envelope'
import { outsideRefusal } from '../application/application.ts'

type Topics = Record<string, string[]>

/** The content of components/trust/publishers.json: the events of our services, by AppId, and of outside applications, by topic. */
export interface Publishers {
  outside: Topics
  services: Record<string, { name: string; publishes: Topics }>
}

/** The content of components/trust/trust.json: the rights of outside applications, by AppId. */
export interface TrustFile {
  unlisted: 'accept' | 'reject'
  publishers: Record<string, { name: string; topics: Topics; tenants?: string[]; apiKey?: string }>
}

/** Thrown if the application with the event's AppId may not publish the event, or if another application wrote it. `message` contains the fix. */
export class UntrustedError extends Error {
  readonly code = 'untrusted'
  override name = 'UntrustedError'
}

export interface Evidence {
  value: Uint8Array
  signature: string | undefined
  /** The time when the broker appended the record, in milliseconds since 1970. NaN if the time is unknown, or if the publisher set it. */
  appendedAt: number
}

type Claim = Pick<ReceivedEnvelope, 'AppId' | 'AppName' | 'Name' | 'TenantID'>

export type Trust = ReturnType<typeof createTrust>

export interface TrustOptions {
  publishers: Publishers
  file: TrustFile
  signer: Signer | undefined
  /** The time before which records need no signature, in milliseconds since 1970. */
  signedSince: number
}

/** Creates the rights of publishers. The ids of envelopes must be in lower case, as `parseEnvelope` returns them. */
export function createTrust({ publishers, file, signer, signedSince }: TrustOptions) {
  const services = byAppId(publishers.services, ({ name, publishes }) => ({ name, publishes: namesByTopic(publishes) }))
  const serviceNames = new Set([...services.values()].map(({ name }) => name))
  const outside = outsideRefusals(publishers)
  const listed = byAppId(file.publishers, ({ name, topics, tenants, apiKey }) => ({
    name,
    apiKey,
    topics: namesByTopic(topics),
    tenants: tenants && new Set(tenants),
  }))

  // The comparison with NaN is false, so a record of unknown time also needs a signature.
  const asksForSignature = (appendedAt: number) => signer !== undefined && !(appendedAt < signedSince)

  const publishes = ({ AppId, Name }: Claim, topic: string) => services.get(AppId)?.publishes.get(topic)?.has(Name)

  /** Returns true if one of our services wrote the event; false if another application wrote it under its own AppId. */
  function isOurs(topic: string, claim: Claim, { value, signature, appendedAt }: Evidence): boolean {
    const { AppId, AppName, Name } = claim
    const service = services.get(AppId)
    if (!service) {
      if (serviceNames.has(AppName)) throw new UntrustedError(`its AppName is ${AppName}, which has another AppId`)
      const refusals = outside.get(topic)
      if (!refusals) throw new UntrustedError(`only ${ownersOf(topic)} publishes to ${topic}`)
      const refusal = refusals.get(Name)
      if (refusal !== undefined) throw new UntrustedError(`${Name} ${refusal}`)
      return false
    }
    const { name } = service
    if (AppName !== name) throw new UntrustedError(`its AppId is that of ${name}, but its AppName is not`)
    if (!publishes(claim, topic))
      throw new UntrustedError(`its AppId is that of ${name}, which ${doesNot(topic, Name)}`)
    if (asksForSignature(appendedAt) && !signer?.isBy(value, signature)) {
      throw new UntrustedError(
        `its AppId is that of ${name}, but the signature is missing or wrong: another application wrote it, or the keys differ (Trust__SigningKeys)`,
      )
    }
    return true
  }

  /** @param mustBe true if the publisher must be listed, even if the file accepts unlisted publishers */
  function requireListed(topic: string, claim: Claim, remedy: string, mustBe = false): void {
    const { AppId, AppName, Name, TenantID = '' } = claim
    const publisher = listed.get(AppId)
    if (!publisher) {
      if (file.unlisted === 'accept' && !mustBe) return
      throw new UntrustedError(`AppId ${AppId} is not listed in trust.json: ${remedy}`)
    }
    const { name, topics, tenants } = publisher
    if (AppName !== name) throw listedBut(AppId, 'with another AppName', remedy)
    if (!topics.get(topic)?.has(Name))
      throw listedBut(AppId, `but ${doesNot(topic, Name)} according to this file`, remedy)
    if (tenants && !tenants.has(TenantID)) throw listedBut(AppId, otherTenant, remedy)
  }

  function ownersOf(topic: string): string {
    const owners = [...services.values()].filter((service) => service.publishes.has(topic))
    return owners.length > 0 ? owners.map(({ name }) => name).join(' or ') : 'one of our services'
  }

  return {
    asksForSignature,
    /**
     * Applies the rules that trust.json cannot change. Our services may publish only their own events, and other applications may not write to topics
     * that belong to our services.
     * @throws {UntrustedError}
     */
    requireGenuine: isOurs as (topic: string, envelope: Claim, evidence: Evidence) => void,

    /**
     * Applies the rules of `requireGenuine`, and the publisher's rights in trust.json.
     * @throws {UntrustedError}
     */
    requireTrusted(topic: string, claim: Claim, evidence: Evidence): void {
      if (!isOurs(topic, claim, evidence)) requireListed(topic, claim, remedyOnStream)
    },

    /**
     * Checks an envelope that a caller sends through a service. The envelope must not have the AppId of one of our services. With authentication, the
     * envelope's application must be listed with the caller's API key, and the TenantID must be allowed. Without authentication, the rules of
     * `requireTrusted` apply.
     * @param caller the authenticated caller; undefined without authentication
     * @throws {UntrustedError}
     */
    requireAdmitted(topic: string, claim: Claim, caller: { key?: string; tenant: { id: string } } | undefined): void {
      const { AppId, TenantID = '' } = claim
      const service = services.get(AppId)
      if (service)
        throw new UntrustedError(`its AppId is that of ${service.name}; use the AppId of your own application`)
      isOurs(topic, claim, unsigned)
      requireListed(topic, claim, remedyAtGateway, caller !== undefined)
      if (!caller) return
      const { apiKey, tenants } = listed.get(AppId) ?? {}
      if (apiKey === undefined) throw listedBut(AppId, 'without an apiKey that may send its events', remedyAtGateway)
      if (caller.key !== apiKey) throw listedBut(AppId, 'with a different apiKey', remedyAtGateway)
      if (caller.tenant.id !== '' && caller.tenant.id !== TenantID)
        throw new UntrustedError('its TenantID is not that of the API key: use the tenant of the key')
      const isNamed = tenants?.has(TenantID) || TenantID === caller.tenant.id
      if (!isNamed) throw listedBut(AppId, otherTenant, remedyAtGateway)
    },

    /** Returns true if publishers.json lists this event for one of our services. */
    publishes,

    /**
     * Returns the signature for an event of our services; undefined if no key is set.
     * @throws {Error} if publishers.json does not list the event
     */
    sign(topic: string, claim: Claim, value: Uint8Array): string | undefined {
      if (publishes(claim, topic)) return signer?.sign(value)
      const { AppId, AppName, Name } = claim
      throw new Error(
        `${AppName} (${AppId}) ${doesNot(topic, Name)} according to components/trust/publishers.json: add the event to services.json, then run make generate`,
      )
    },

    /** Returns an operator's signature for an event of our services; undefined if no key is set. */
    vouch: ({ AppId }: Pick<Claim, 'AppId'>, value: Uint8Array) =>
      services.has(AppId) ? signer?.sign(value) : undefined,
  }
}

/**
 * Returns the topics that outside applications may write to. For each topic, the value maps each forbidden event to the reason (`outsideRefusal`).
 */
export function outsideRefusals({ outside, services }: Publishers): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const written = [outside, ...Object.values(services).map(({ publishes }) => publishes)]
  const names = new Set(written.flatMap((events) => Object.keys(events)))
  const topics = [...names].map((name) => ({ name, outside: outside[name] ?? [] }))
  const produced = Object.entries(services).map(([id, { publishes }]) => [id, { produces: publishes }] as const)
  const contract = { topics, services: Object.fromEntries(produced) }
  const events = new Set(written.flatMap((each) => Object.values(each).flat()))
  const refusals = (topic: string) =>
    [...events].flatMap((event): [string, string][] => {
      const refusal = outsideRefusal(contract, event, topic)
      return refusal === undefined ? [] : [[event, refusal]]
    })
  return new Map(Object.keys(outside).map((topic) => [topic, new Map(refusals(topic))]))
}

const unsigned: Evidence = { value: new Uint8Array(), signature: undefined, appendedAt: Number.NaN }

const remedyOnStream = 'to accept the event, change the file, restart the services and replay the dead letter'
const remedyAtGateway = 'to accept the event, change the file, restart the services and send the event again'

const otherTenant = 'but its tenants do not include the TenantID of the event'
const listedBut = (appId: string, why: string, remedy: string) =>
  new UntrustedError(`AppId ${appId} is listed in trust.json ${why}: ${remedy}`)

const doesNot = (topic: string, name: string) => `does not publish ${name} to ${topic}`

const byAppId = <From, To>(entries: Record<string, From>, make: (entry: From) => To): ReadonlyMap<string, To> =>
  new Map(Object.entries(entries).map(([id, entry]) => [id.toLowerCase(), make(entry)]))

const namesByTopic = (topics: Topics): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(Object.entries(topics).map(([topic, names]) => [topic, new Set(names)]))

/** The record header of a signature. Logs are kept for ever, so the header's name never changes. */
export const signatureHeader = 'signature'

/** Matches a signature: 32 bytes in base64url. */
const form = /^[\w-]{43}$/

/** Returns a header's text if it has the form of a signature. */
export const signatureIn = (text: string | undefined): string | undefined =>
  text !== undefined && form.test(text) ? text : undefined

type Signer = ReturnType<typeof createSigner>

/**
 * Creates the signer of all services of an installation, which share their keys (docs/adr/0021).
 * @param keys the first key signs; signatures of all keys are accepted, so that keys can be replaced
 */
export function createSigner(keys: readonly string[]) {
  const secrets = keys.map((key) => createSecretKey(key, 'utf8'))
  const [first] = secrets
  const digest = (key: (typeof secrets)[number], value: Uint8Array) => createHmac('sha256', key).update(value)
  return {
    /** Returns the HMAC-SHA-256 of a record's value, in base64url; undefined without a key. */
    sign: (value: Uint8Array) => first && digest(first, value).digest('base64url'),
    isBy(value: Uint8Array, signature: string | undefined): boolean {
      if (signatureIn(signature) === undefined) return false
      const given = Buffer.from(signature as string, 'base64url')
      return secrets.some((key) => timingSafeEqual(digest(key, value).digest(), given))
    },
  }
}
