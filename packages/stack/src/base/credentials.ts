import { randomBytes, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { removeUnfinished, replaceFile } from './files.ts'

/** A certificate and its key: the paths of both files, or both as PEM. */
export interface CertificatePair {
  certificate: string
  key: string
}

const dayMs = 24 * 60 * 60 * 1000
/** If users trust a certificate manually, Apple accepts a validity of at most 825 days. */
const validDays = 820

/** Returns the certificate for localhost, 127.0.0.1 and ::1. Renews it in its last week. */
export async function localCertificate(folder: string): Promise<CertificatePair> {
  removeUnfinished(folder)
  const files = { certificate: join(folder, 'localhost.crt'), key: join(folder, 'localhost.key') }
  if (!isUsable(files)) {
    const made = await makeCertificate()
    // Writes the key first, so that the key exists whenever the certificate exists.
    replaceFile(files.key, made.key, 0o600)
    replaceFile(files.certificate, made.certificate, 0o600)
  }
  return files
}

function isUsable({ certificate, key }: CertificatePair): boolean {
  return existsSync(certificate) && existsSync(key) && isLasting(readFileSync(certificate, 'utf8'))
}

/** Returns true if a PEM certificate is valid for at least another week. */
export function isLasting(certificate: string): boolean {
  return Date.parse(new X509Certificate(certificate).validTo) > Date.now() + 7 * dayMs
}

/** Returns true if a PEM certificate is valid for each of these host names. */
export function isFor(hosts: readonly string[], certificate: string): boolean {
  const parsed = new X509Certificate(certificate)
  return hosts.every((host) => parsed.checkHost(host) !== undefined)
}

/** Returns a self-signed certificate for localhost, the loopback addresses, and further names or addresses. */
export async function makeCertificate(others: string[] = []): Promise<CertificatePair> {
  const names = ['localhost', '127.0.0.1', '::1', ...others]
  const altNames = names.map((name) =>
    isIP(name) ? { type: 7 as const, ip: name } : { type: 2 as const, value: name },
  )
  // Loads the module on demand, because certificates are rarely created.
  const { generate } = await import('selfsigned')
  const pair = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + validDays * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
  })
  return { certificate: pair.cert, key: pair.private }
}

type Label = 'CERTIFICATE' | 'PRIVATE KEY'

/** Returns the base64 body of a PEM text on one line, for an environment variable. */
export const bodyOf = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s/g, '')

/** Returns a PEM text in lines of 64 characters (RFC 7468). */
export function pemOf(label: Label, body: string): string {
  const lines = body.match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** Returns a PEM text on one line for Kafka. The body may be a reference to a variable. */
export const pemLine = (label: Label, body: string): string => `-----BEGIN ${label}----- ${body} -----END ${label}-----`

/** Returns 32 random letters, digits, - and _, which need no escape in a URI or a shell. */
export const newSecret = (): string => randomBytes(24).toString('base64url')
