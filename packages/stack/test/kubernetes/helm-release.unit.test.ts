import { expect } from 'chai'
import { eventually } from '../../src/base/run-tool.ts'
import { restartCrashed } from '../../src/kubernetes/helm-release.ts'
import { removeFolders, temporaryFolder } from '../support.ts'
import { fakeCluster } from './fake-cluster.ts'

const cluster = { context: 'shop', server: 'https://203.0.113.1:6443', namespace: 'orders' }
const nameLabel = 'app.kubernetes.io/name'

const setup = (name: string) => ({
  metadata: { name, labels: { [nameLabel]: 'setup' } },
  status: { phase: 'Succeeded' },
})
const service = (name: string, waiting: object | undefined) => ({
  metadata: { name, labels: { [nameLabel]: 'a-service' } },
  status: {
    phase: 'Running',
    initContainerStatuses: [{ name: 'daprd', state: waiting ? { waiting } : { running: {} } }],
  },
})

describe('restartCrashed', () => {
  const { PATH } = process.env
  afterEach(() => {
    process.env.PATH = PATH
    removeFolders()
  })

  it('replaces crashing pods after the setup job, but neither others nor after an earlier job', async () => {
    const pods = [service('crashing', { reason: 'CrashLoopBackOff' }), service('running', undefined)]
    const before = fakeCluster(temporaryFolder())
    before.answer('pods', { items: [setup('setup-1'), ...pods] })
    const lines: string[] = []
    const ended = new AbortController()
    const restarting = restartCrashed(cluster, (line) => lines.push(line), ended.signal)
    await eventually(() => before.calls().length > 1, 'a look at the pods')
    expect(JSON.stringify(before.calls())).not.to.contain('delete')
    const after = fakeCluster(temporaryFolder())
    after.answer('pods', { items: [setup('setup-1'), setup('setup-2'), ...pods] })
    await restarting
    expect(lines).to.deep.equal(['crashing: replacing, because it crashed before'])
    const deletions = after.calls().filter(({ args }) => args.includes('delete'))
    expect(deletions.map(({ args }) => args.at(args.indexOf('pod') + 1))).to.deep.equal(['crashing'])
  })
})
