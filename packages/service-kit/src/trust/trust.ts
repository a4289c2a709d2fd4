import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { ReceivedEnvelope } from '@orderflow/envelope'

/** Names of events by topic. */
type Topics = Record<string, string[]>

/** components/trust/publishers.json: what our own services publish, by AppId, and the topics that others may write, too. */
export interface Publishers {
  outside: string[]
  services: Record<string, { name: string; publishes: Topics }>
}

/** components/trust/trust.json: what applications outside may say, by AppId (trust.schema.json). */
export interface TrustFile {
  unlisted: 'accept' | 'reject'
  publishers: Record<string, { name: string; topics: Topics; tenants?: string[]; apiKey?: string }>
}

/** An event that its AppId may not publish, or that another application wrote. `message` states what is wrong, and how to fix it. */
export class UntrustedError extends Error {
  readonly code = 'untrusted'
  constructor(message: string) {
    super(message)
    this.name = 'UntrustedError'
  }
}

/** What a record has besides its envelope to prove who wrote it. */
export interface Evidence {
  /** The envelope as bytes. */
  value: Uint8Array
  /** Its header of that name. */
  signature: string | undefined
  /** When the broker appended it to the log: milliseconds since the epoch. NaN when that is unknown, or its publisher chose its time. */
  appendedAt: number
}

type Claim = Pick<ReceivedEnvelope, 'AppId' | 'AppName' | 'Name' | 'TenantID'>

/** Who brought an envelope, as his API key proves: the key's name, and its tenant, empty for none. */
interface Speaker {
  key?: string
  tenant: { id: string }
}

/** Who may say what on the stream. Ids of envelopes are in lower case, as `parseEnvelope` leaves them. */
export interface Trust {
  /**
   * What holds whatever the file says: nobody but a service of ours speaks as one, what it says is what it publishes, and no other
   * application writes the topics that are our own.
   * @throws {UntrustedError}
   */
  requireGenuine(topic: string, envelope: Claim, evidence: Evidence): void
  /**
   * That, and that the file lets the publisher say it.
   * @throws {UntrustedError}
   */
  requireTrusted(topic: string, envelope: Claim, evidence: Evidence): void
  /**
   * Whether a service may hand an envelope of somebody else's on to a topic: never one that speaks as a service of ours. Where callers are
   * asked who they are, its application is listed, with the key that sent it, and names no tenant but those that the file or the key has;
   * where nobody is asked, it may say what it may say on the stream.
   * @param caller undefined where nobody is asked
   * @throws {UntrustedError}
   */
  requireAdmitted(topic: string, envelope: Claim, caller: Speaker | undefined): void
  /**
   * The signature of what one of our services publishes; undefined when no key is set.
   * @throws {Error} no receiver would take it, since publishers.json does not have it
   */
  sign(topic: string, envelope: Claim, value: Uint8Array): string | undefined
  /** An operator's signature of an event that speaks as a service of ours, when a key is set. */
  vouch(envelope: Claim, value: Uint8Array): string | undefined
  /** Whether something that the broker appended then had to be signed. */
  asksForSignature(appendedAt: number): boolean
}

export interface TrustOptions {
  publishers: Publishers
  file: TrustFile
  /** Undefined when no key is set: then nobody is asked for a signature. */
  signer: Signer | undefined
  /** What arrived before needs no signature: milliseconds since the epoch. */
  signedSince: number
}

export function createTrust({ publishers, file, signer, signedSince }: TrustOptions): Trust {
  const services = byAppId(publishers.services, ({ name, publishes }) => ({ name, publishes: namesByTopic(publishes) }))
  const serviceNames = new Set([...services.values()].map(({ name }) => name))
  const outside = new Set(publishers.outside)
  const listed = byAppId(file.publishers, ({ name, topics, tenants, apiKey }) => ({
    name,
    apiKey,
    topics: namesByTopic(topics),
    tenants: tenants && new Set(tenants),
  }))

  // Not earlier than that: a record without a time is asked, too.
  const asksForSignature = (appendedAt: number) => signer !== undefined && !(appendedAt < signedSince)

  const publishes = ({ AppId, Name }: Claim, topic: string) => services.get(AppId)?.publishes.get(topic)?.has(Name)

  /** Whether a service of ours says it; otherwise another application does, which may speak for itself there. */
  function isOurs(topic: string, claim: Claim, { value, signature, appendedAt }: Evidence): boolean {
    const { AppId, AppName, Name } = claim
    const service = services.get(AppId)
    if (!service) {
      if (serviceNames.has(AppName)) throw new UntrustedError(`its AppName is ${AppName}, whose AppId is another`)
      if (!outside.has(topic)) throw new UntrustedError(`only ${ownersOf(topic)} publishes to ${topic}`)
      return false
    }
    const { name } = service
    if (AppName !== name) throw new UntrustedError(`its AppId is that of ${name}, and its AppName another`)
    if (!publishes(claim, topic))
      throw new UntrustedError(`its AppId is that of ${name}, which ${doesNot(topic, Name)}`)
    if (asksForSignature(appendedAt) && !signer?.isBy(value, signature)) {
      throw new UntrustedError(
        `its AppId is that of ${name}, which did not sign it: somebody else wrote it, or the keys differ (Trust__SigningKeys)`,
      )
    }
    return true
  }

  /** @param mustBe whether it has to be listed, whatever the file says of those that are not */
  function requireListed(
    topic: string,
    { AppId, AppName, Name, TenantID = '' }: Claim,
    remedy: string,
    mustBe = false,
  ) {
    const publisher = listed.get(AppId)
    if (!publisher) {
      if (file.unlisted === 'accept' && !mustBe) return
      throw new UntrustedError(`AppId ${AppId} is not listed in trust.json: ${remedy}`)
    }
    const { name, topics, tenants } = publisher
    const refuse = (why: string) => new UntrustedError(`AppId ${AppId} is listed in trust.json ${why}: ${remedy}`)
    if (AppName !== name) throw refuse('with another AppName')
    if (!topics.get(topic)?.has(Name)) throw refuse(`and ${doesNot(topic, Name)} by it`)
    if (tenants && !tenants.has(TenantID)) throw refuse('with other tenants than its TenantID')
  }

  function ownersOf(topic: string): string {
    const owners = [...services.values()].filter((service) => service.publishes.has(topic))
    return owners.length > 0 ? owners.map(({ name }) => name).join(' or ') : 'a service of ours'
  }

  return {
    asksForSignature,
    requireGenuine: isOurs,

    requireTrusted(topic, claim, evidence) {
      if (!isOurs(topic, claim, evidence)) requireListed(topic, claim, remedyOnStream)
    },

    requireAdmitted(topic, claim, caller) {
      const { AppId, TenantID = '' } = claim
      const service = services.get(AppId)
      if (service) throw new UntrustedError(`its AppId is that of ${service.name}, which speaks for itself`)
      isOurs(topic, claim, unsigned)
      requireListed(topic, claim, remedyAtGateway, caller !== undefined)
      if (!caller) return
      const { apiKey, tenants } = listed.get(AppId) ?? {}
      const refuse = (why: string) =>
        new UntrustedError(`AppId ${AppId} is listed in trust.json ${why}: ${remedyAtGateway}`)
      if (apiKey === undefined) throw refuse('without an apiKey that may speak for it')
      if (caller.key !== apiKey) throw refuse('with another apiKey than the one that sent this')
      if (caller.tenant.id !== '' && caller.tenant.id !== TenantID) {
        throw new UntrustedError('its TenantID is not that of the key that sent this: write the tenant of the key')
      }
      const isNamed = tenants?.has(TenantID) || TenantID === caller.tenant.id
      if (!isNamed) throw refuse('without its TenantID among tenants')
    },

    sign(topic, claim, value) {
      if (publishes(claim, topic)) return signer?.sign(value)
      const { AppId, AppName, Name } = claim
      throw new Error(
        `${AppName} (${AppId}) ${doesNot(topic, Name)} by components/trust/publishers.json: say so in services.json, then make generate`,
      )
    },

    vouch: ({ AppId }, value) => (services.has(AppId) ? signer?.sign(value) : undefined),
  }
}

/** Of an event that came without a signature, now. */
const unsigned: Evidence = { value: new Uint8Array(), signature: undefined, appendedAt: Number.NaN }

const remedyOnStream = 'if it should be taken in, change that, restart the services and replay its dead letter'
const remedyAtGateway = 'if it should be taken in, change that, restart the services and send it again'

const doesNot = (topic: string, name: string) => `does not publish ${name} to ${topic}`

function byAppId<From, To>(entries: Record<string, From>, make: (entry: From) => To): ReadonlyMap<string, To> {
  return new Map(Object.entries(entries).map(([id, entry]) => [id.toLowerCase(), make(entry)]))
}

function namesByTopic(topics: Topics): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(Object.entries(topics).map(([topic, names]) => [topic, new Set(names)]))
}

/** The record header of a signature. Logs are kept for ever, so its name never changes. */
export const signatureHeader = 'signature'

/** 32 bytes in base64url. */
const form = /^[\w-]{43}$/

/** A header's text when it has the form of a signature: nobody else's is handed on. */
export function signatureIn(text: string | undefined): string | undefined {
  return text !== undefined && form.test(text) ? text : undefined
}

/** What the services of an installation prove to each other by: all of them have the same keys (docs/adr/0021). */
interface Signer {
  /** HMAC-SHA-256 of a record's value, in base64url; undefined without a key. */
  sign(value: Uint8Array): string | undefined
  /** Whether one of the keys made the signature. */
  isBy(value: Uint8Array, signature: string | undefined): boolean
}

/** @param keys the first one signs, and all of them are accepted, so that one can be replaced by another */
export function createSigner(keys: readonly string[]): Signer {
  const secrets = keys.map((key) => createSecretKey(key, 'utf8'))
  const [first] = secrets
  const digest = (key: (typeof secrets)[number], value: Uint8Array) => createHmac('sha256', key).update(value)
  return {
    sign: (value) => first && digest(first, value).digest('base64url'),
    isBy(value, signature) {
      if (signatureIn(signature) === undefined) return false
      const given = Buffer.from(signature as string, 'base64url')
      return secrets.some((key) => timingSafeEqual(digest(key, value).digest(), given))
    },
  }
}
