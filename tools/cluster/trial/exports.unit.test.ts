import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { exportLine, linesOfCluster } from './exports.ts'

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
