import { versions } from '@orderflow/stack/base'
import { docker } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { hardenedRun } from './hardened-run.ts'

export function daprdContract(image: string): void {
  it('contains the sidecar, and certificates for TLS connections to services and brokers', async () => {
    expect(await hardenedRun(image, '/daprd', '--version')).to.equal(`${versions.dapr}\n`)
    const id = (await docker('create', image, '/daprd')).trim()
    try {
      const certificates = await docker('cp', `${id}:/etc/ssl/certs/ca-certificates.crt`, '-')
      expect(certificates).to.contain('BEGIN CERTIFICATE')
    } finally {
      await docker('rm', id)
    }
  })
}
