import { versions } from '@orderflow/stack/base'
import { docker } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { hardenedRun } from './hardened-run.ts'

export function nodeContract(image: string): void {
  it('runs a command, and passes options to node', async () => {
    expect(await hardenedRun(image, 'node', '-p', 'process.version + process.getuid()')).to.equal(
      `v${versions.node}10001\n`,
    )
    expect(await hardenedRun(image, '-p', '6 * 7')).to.equal('42\n')
    expect(await hardenedRun(image, 'npm', '--version')).to.match(/^\d+\.\d+\.\d+\n$/)
    expect(await docker('run', '--rm', '--user', 'node', image, 'id', '-u')).to.equal('1000\n')
  })
}
