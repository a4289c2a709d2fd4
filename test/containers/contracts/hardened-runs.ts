import { daprdImage, nodeImage } from '@orderflow/stack'
import { docker } from '@orderflow/stack/containers'
import { versions } from '@orderflow/stack/parts'
import { expect } from 'chai'

const hardened = ['--rm', '--read-only', '--user', '10001', '--cap-drop', 'ALL', '--network', 'none']

/** Runs a command as an operator would who trusts nobody, and returns what it prints. */
const run = (image: string, ...command: string[]) => docker('run', ...hardened, image, ...command)

export function hardenedRuns(): void {
  it(`${nodeImage} runs a command, and gives options to node`, async () => {
    expect(await run(nodeImage, 'node', '-p', 'process.version + process.getuid()')).to.equal(
      `v${versions.node}10001\n`,
    )
    expect(await run(nodeImage, '-p', '6 * 7')).to.equal('42\n')
    expect(await run(nodeImage, 'npm', '--version')).to.match(/^\d+\.\d+\.\d+\n$/)
    expect(await docker('run', '--rm', '--user', 'node', nodeImage, 'id', '-u')).to.equal('1000\n')
  })

  it(`${daprdImage} has the sidecar, and certificates for services and brokers with TLS`, async () => {
    expect(await run(daprdImage, '/daprd', '--version')).to.equal(`${versions.dapr}\n`)
    const id = (await docker('create', daprdImage, '/daprd')).trim()
    try {
      const certificates = await docker('cp', `${id}:/etc/ssl/certs/ca-certificates.crt`, '-')
      expect(certificates).to.contain('BEGIN CERTIFICATE')
    } finally {
      await docker('rm', id)
    }
  })
}
