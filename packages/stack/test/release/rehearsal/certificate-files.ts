import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeCertificate } from '../../../src/base/credentials.ts'

export interface CertificateFiles {
  /** The paths of PEM files: the certificate, its key, and both in one file. */
  certificateFile: string
  keyFile: string
  bothFile: string
  certificate: string
}

/** Creates a certificate for this machine and the hosts of `names`, in the files that the servers need. */
export async function writeCertificate(folder: string, names: string[]): Promise<CertificateFiles> {
  const { certificate, key } = await makeCertificate(names)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const write = (name: string, content: string) => {
    const file = join(folder, name)
    writeFileSync(file, content, { mode: 0o600 })
    return file
  }
  return {
    certificateFile: write('certificate.pem', certificate),
    keyFile: write('key.pem', key),
    bothFile: write('both.pem', `${key}\n${certificate}`),
    certificate,
  }
}
