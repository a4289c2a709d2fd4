import { X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'

export interface CertificateFiles {
  certificate: string
  key: string
}

const dayMs = 24 * 60 * 60 * 1000
/** Apple's limit for certificates that a user trusts by hand is 825 days. */
const validDays = 820

/** The stack's certificate for localhost, 127.0.0.1 and ::1: made when missing or within a week of its end. */
export async function localCertificate(folder: string): Promise<CertificateFiles> {
  const files = { certificate: join(folder, 'localhost.crt'), key: join(folder, 'localhost.key') }
  if (!isUsable(files)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const pair = await generateLocalhost()
    // The key first: a certificate file means both are there.
    for (const [file, content] of [
      [files.key, pair.private],
      [files.certificate, pair.cert],
    ] as const) {
      writeFileSync(`${file}.new`, content, { mode: 0o600 })
      renameSync(`${file}.new`, file)
    }
  }
  return files
}

function isUsable({ certificate, key }: CertificateFiles): boolean {
  if (!existsSync(certificate) || !existsSync(key)) return false
  const validTo = Date.parse(new X509Certificate(readFileSync(certificate)).validTo)
  return validTo > Date.now() + 7 * dayMs
}

function generateLocalhost() {
  return generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + validDays * dayMs),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
}
