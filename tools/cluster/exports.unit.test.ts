import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CliError } from '@orderflow/cli'
import { expect } from 'chai'
import { exportLine, linesOfCluster } from './exports.ts'
import { findCluster } from './running.ts'

describe('the exports of a cluster', () => {
  const read = (lines: string[], variable: string) =>
    execFileSync('sh', ['-euc', `${lines.join('\n')}\nprintf %s "$${variable}"`], { encoding: 'utf8' })

  it('keep quotes, line breaks and dollar signs of a value', () => {
    const value = 'it\'s "one"\n$HOME `two` \\'
    expect(read([exportLine('Stream__CaCert', value)], 'Stream__CaCert')).to.equal(value)
  })

  it('add the programs of the cluster to the path', () => {
    const path = read(linesOfCluster('/a folder/kubeconfig'), 'PATH')
    expect(path)
      .to.match(/hyperkube-.+helm-/)
      .and.to.contain(`:${process.env.PATH}`)
    expect(read(linesOfCluster('/a folder/kubeconfig'), 'KUBECONFIG')).to.equal('/a folder/kubeconfig')
  })
})

describe('findCluster', () => {
  const { PATH } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-find-'))
  after(() => rmSync(folder, { recursive: true }))
  afterEach(() => {
    process.env.PATH = PATH
  })

  it('refuses the current context unless kind has created it, and names both ways to a cluster', async () => {
    const kubectl = join(folder, 'kubectl')
    writeFileSync(kubectl, '#!/bin/sh\necho production\n')
    chmodSync(kubectl, 0o755)
    process.env.PATH = `${folder}:${PATH}`
    const error = await findCluster(folder, { onProgress: () => {} }).then(
      () => expect.fail('it has found a cluster'),
      (cause: CliError) => cause,
    )
    expect(error.message).to.contain('the current context of kubectl is production')
    expect(error.nextStep).to.contain('kind create cluster').and.to.contain('make -C tools cluster')
  })
})
