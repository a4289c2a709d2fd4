import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'

export interface Certificate {
  /** PEM files: the certificate, its key, and both in one. */
  certificateFile: string
  keyFile: string
  bothFile: string
  /** PEM: whoever trusts it trusts all that use it. */
  certificate: string
}

/** A certificate of its own for a rehearsal: for this machine's name for itself, and for `names` besides. */
export async function makeCertificate(folder: string, names: string[]): Promise<Certificate> {
  const dns = ['localhost', ...names].map((value) => ({ type: 2 as const, value }))
  const pair = await generate([{ name: 'commonName', value: 'orderflow rehearsal' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [...dns, { type: 7, ip: '127.0.0.1' }] },
    ],
  })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const write = (name: string, content: string) => {
    const file = join(folder, name)
    writeFileSync(file, content, { mode: 0o600 })
    return file
  }
  return {
    certificateFile: write('certificate.pem', pair.cert),
    keyFile: write('key.pem', pair.private),
    bothFile: write('both.pem', `${pair.private}\n${pair.cert}`),
    certificate: pair.cert,
  }
}
