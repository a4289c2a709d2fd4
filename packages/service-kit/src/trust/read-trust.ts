import { readFileSync } from 'node:fs'
import { parseMoment } from '@orderflow/envelope-schema'
import { createSigner } from './signature.ts'
import { createTrust, type Publishers, type Trust } from './trust.ts'
import { readTrustFile } from './trust-file.ts'

/** Whom a service trusts, as its settings have it. */
export interface TrustSettings {
  /** What applications outside may say, seen from the service's folder. */
  File: string
  /** What each service publishes, by AppId: generated from services.json, seen from the service's folder. */
  Publishers: string
  /** Separated by commas: the first one signs. Empty where nobody else can write the stream, as on loopback. From the environment only. */
  SigningKeys: string
  /** A date-time. What reached the log before needs no signature; empty when all of it is signed. */
  SignedSince: string
}

/**
 * Reads whom to trust: once, so a change takes a restart.
 * @param root the service's folder
 * @throws {TrustFileError} when the file says what cannot be
 */
export function readTrust(root: URL, { File, Publishers: generated, SigningKeys, SignedSince }: TrustSettings): Trust {
  const publishers = JSON.parse(readFileSync(new URL(generated, root), 'utf8')) as Publishers
  const keys = SigningKeys.split(',').filter(Boolean)
  return createTrust({
    publishers,
    file: readTrustFile(new URL(File, root), publishers),
    signer: keys.length > 0 ? createSigner(keys) : undefined,
    signedSince: SignedSince ? Number(parseMoment(SignedSince)) : Number.NEGATIVE_INFINITY,
  })
}
