import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { readRecord } from '../../src/kubernetes/cluster.ts'
import { valuesFile } from '../../src/kubernetes/values.ts'
import { removeFolders, temporaryFolder } from '../support.ts'
import { fakeCluster } from './fake-cluster.ts'

const { STACK: _, ...environment } = process.env

function cli(args: string[], env: object): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(repository, 'packages/cli/src/cli.ts')
  return promisify(execFile)(process.execPath, [program, ...args], {
    env: { ...environment, PATH: process.env.PATH, ...env },
  })
    .then(({ stdout }) => ({ code: 0, stdout, stderr: '' }))
    .catch((error: { code: number; stdout: string; stderr: string }) => error)
}

describe('make up STACK=kubernetes', () => {
  const { PATH } = process.env
  before(function () {
    // Does not call the cluster of a developer.
    if (readRecord() || existsSync(join(repository, valuesFile))) this.skip()
  })
  afterEach(() => {
    process.env.PATH = PATH
    removeFolders()
  })

  it('refuses to start without Kafka before it calls a cluster', async () => {
    const fake = fakeCluster(temporaryFolder())
    const { code, stderr } = await cli(['up'], { STACK: 'kubernetes' })
    expect([code, stderr.split('\n')[0]]).to.deep.equal([
      1,
      'error: kubernetes.yaml must name your Kafka (kafka.brokers), because the chart installs only services',
    ])
    expect(fake.calls().map(({ args }) => args[0])).to.deep.equal(['version', 'version'])
  })

  it('names a missing program and how to install it', async () => {
    process.env.PATH = temporaryFolder()
    const { stderr } = await cli(['up'], { STACK: 'kubernetes' })
    expect(stderr).to.contain('error: kubectl is not installed\nnext: install kubectl')
  })

  it('lets no other command call kubectl before the first start', async () => {
    const fake = fakeCluster(temporaryFolder())
    await cli(['status'], {})
    await cli(['demo'], {})
    expect(fake.calls()).to.deep.equal([])
  })
})
