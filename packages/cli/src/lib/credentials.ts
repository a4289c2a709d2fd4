import { randomBytes, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeUnfinished, replaceFile } from './files.ts'

/** Paths of PEM files. */
export interface CertificateFiles {
  certificate: string
  key: string
}

/** PEM texts. Whoever trusts the certificate trusts all that use it. */
interface Certificate {
  certificate: string
  key: string
}

const dayMs = 24 * 60 * 60 * 1000
/** Apple's limit for certificates that a user trusts by hand is 825 days. */
const validDays = 820

/** The stack's certificate for localhost, 127.0.0.1 and ::1: made when missing or within a week of its end. */
export async function localCertificate(folder: string): Promise<CertificateFiles> {
  removeUnfinished(folder)
  const files = { certificate: join(folder, 'localhost.crt'), key: join(folder, 'localhost.key') }
  if (!isUsable(files)) {
    const made = await makeCertificate()
    // The key first: a certificate file means both are there.
    replaceFile(files.key, made.key, 0o600)
    replaceFile(files.certificate, made.certificate, 0o600)
  }
  return files
}

function isUsable({ certificate, key }: CertificateFiles): boolean {
  return existsSync(certificate) && existsSync(key) && isLasting(readFileSync(certificate, 'utf8'))
}

/** Returns whether a certificate (PEM) is valid for at least another week. */
export function isLasting(certificate: string): boolean {
  return Date.parse(new X509Certificate(certificate).validTo) > Date.now() + 7 * dayMs
}

/** A new certificate that nobody signed: for this machine's names for itself, and for the hosts of `names` besides. */
export async function makeCertificate(names: string[] = []): Promise<Certificate> {
  const hosts = ['localhost', ...names].map((value) => ({ type: 2 as const, value }))
  const addresses = ['127.0.0.1', '::1'].map((ip) => ({ type: 7 as const, ip }))
  // Loaded when one is made, which is seldom.
  const { generate } = await import('selfsigned')
  const pair = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + validDays * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [...hosts, ...addresses] },
    ],
  })
  return { certificate: pair.cert, key: pair.private }
}

type Label = 'CERTIFICATE' | 'PRIVATE KEY'

/** Returns the body of a PEM text, in base64 and on one line, for a variable. */
export function bodyOf(pem: string): string {
  return pem.replaceAll(/-----[^-]+-----|\s/g, '')
}

/** The PEM text of such a body, in lines of 64 characters (RFC 7468). */
export function pemOf(label: Label, body: string): string {
  const lines = body.match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** The same on one line, which Kafka's settings take and few other programs do. The body may be a variable's name. */
export function pemLine(label: Label, body: string): string {
  return `-----BEGIN ${label}----- ${body} -----END ${label}-----`
}

/** 32 letters, digits, - and _, which need no escape in a URI or a shell. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url')
}
