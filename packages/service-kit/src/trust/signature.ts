import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'

/** The record header of a signature. Logs are kept for ever, so its name never changes. */
export const signatureHeader = 'signature'

/** 32 bytes in base64url. */
const form = /^[\w-]{43}$/

/** A header's text when it has the form of a signature: nobody else's is handed on. */
export function signatureIn(text: string | undefined): string | undefined {
  return text !== undefined && form.test(text) ? text : undefined
}

/** What the services of an installation prove to each other by: all of them have the same keys (docs/adr/0021). */
export interface Signer {
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
