import { expect } from 'chai'
import { requireStoresUnused, storedServices } from '../../src/application/services.ts'
import type { CliError } from '../../src/base/error.ts'
import type { Cluster } from '../../src/kubernetes/cluster.ts'
import { requireNoRebuild } from '../../src/kubernetes/needs.ts'
import { rebuildStores, requireRebuilt, withPods } from '../../src/kubernetes/rebuild.ts'
import { clusterStatus } from '../../src/kubernetes/status.ts'
import { removeFolders, temporaryFolder } from '../support.ts'
import { fakeCluster } from './fake-cluster.ts'

const cluster: Cluster = { context: 'shop', server: 'https://203.0.113.1:6443', namespace: 'orders' }
const [service = ''] = storedServices.map(({ name }) => name)
const nameLabel = 'app.kubernetes.io/name'

describe('a rebuild of stores in Kubernetes', () => {
  const { PATH } = process.env
  const { signal } = new AbortController()
  let fake: ReturnType<typeof fakeCluster>
  beforeEach(() => {
    fake = fakeCluster(temporaryFolder())
    fake.answer('deployments', { items: [] })
  })
  afterEach(() => {
    process.env.PATH = PATH
    removeFolders()
  })

  /** Runs a rebuild. Returns its lines, and the names of stopped services after each change of the release. */
  async function run() {
    const lines: string[] = []
    const stopped: (readonly string[])[] = []
    const apply = async ({ rebuild }: { rebuild: readonly string[] }) => void stopped.push(rebuild)
    const options = { services: [service], apply, again: 'make up REBUILD=1', signal }
    const onProgress = (line: string) => void lines.push(line)
    const error = await rebuildStores(cluster, { ...options, onProgress }).then(
      () => undefined,
      (cause: CliError) => cause,
    )
    return { lines, stopped, error }
  }
  const jobWith = (type: string, message = '') => ({
    items: [
      {
        metadata: { name: `${service}-rebuild-7`, creationTimestamp: '2026-11-29T10:00:00Z' },
        status: { conditions: [{ type, status: 'True', message }] },
      },
      { metadata: { name: `${service}-rebuild-6`, creationTimestamp: '2026-11-29T09:00:00Z' }, status: {} },
    ],
  })

  it('keeps a service stopped until its Job is complete, and shows the result', async () => {
    fake.answer('pods', { items: [] })
    fake.answer('jobs', jobWith('Complete'))
    fake.answer(`logs job/${service}-rebuild-7`, 'events: 3 read: 3 applied, 0 already applied, 0 not needed\n')
    const { lines, stopped, error } = await run()
    expect(error).to.equal(undefined)
    expect(stopped).to.deep.equal([[service], []])
    expect(lines).to.deep.equal([
      `${service}: rebuilding its store from the log`,
      `${service}: events: 3 read: 3 applied, 0 already applied, 0 not needed`,
    ])
  })

  it('leaves a service stopped if its Job fails, and names the next step', async () => {
    fake.answer('pods', { items: [] })
    fake.answer('jobs', jobWith('Failed', 'Job has reached the specified backoff limit'))
    const { stopped, error } = await run()
    expect(stopped).to.deep.equal([[service]])
    expect(error?.message).to.equal(
      `the store of ${service} is not rebuilt: Job has reached the specified backoff limit`,
    )
    expect(error?.nextStep).to.contain('make up REBUILD=1')
  })

  it('counts pods of a service that are ending as users of its store, but not those of its Job', async () => {
    const ending = { name: `${service}-1`, labels: { [nameLabel]: service }, deletionTimestamp: '2026-11-29T10:00:00Z' }
    const job = { name: `${service}-rebuild-7-x`, labels: { [nameLabel]: `${service}-rebuild` } }
    fake.answer('pods', { items: [{ metadata: ending }, { metadata: job }] })
    const names = await withPods(cluster)
    expect(names).to.have.members([service, `${service}-rebuild`])
    expect(() => requireStoresUnused(names)).to.throw(`${service} already run`)
    requireStoresUnused([`${service}-rebuild`])
  })

  it('lets make up refuse to start a service whose rebuild has not ended', async () => {
    fake.answer('jobs', { items: [{ metadata: { name: 'orderflow-setup', labels: { [nameLabel]: 'setup' } } }] })
    await requireRebuilt(cluster)
    fake = fakeCluster(temporaryFolder())
    fake.answer('jobs', { items: [{ metadata: { name: 'x', labels: { [nameLabel]: `${service}-rebuild` } } }] })
    const error = await requireRebuilt(cluster).catch((caught: CliError) => caught)
    expect((error as CliError).message).to.equal(`the rebuild of a store has not ended: ${service}`)
    expect((error as CliError).nextStep).to.contain(`make rebuild SERVICE=${service}`)
  })

  it('lets make status report a failed Job', async () => {
    const metadata = {
      name: 'x',
      labels: { [nameLabel]: `${service}-rebuild` },
      creationTimestamp: '2026-11-29T10:00:00Z',
    }
    const status = { phase: 'Failed', containerStatuses: [] }
    const stopped = { metadata: { name: service, generation: 1 }, spec: { replicas: 0 }, status: {} }
    fake = fakeCluster(temporaryFolder())
    fake.answer('deployments', { items: [stopped] })
    fake.answer('pods', { items: [{ metadata, spec: { containers: [] }, status }] })
    expect((await clusterStatus(cluster)).unwell).to.deep.equal([`${service}-rebuild (failed)`])
  })

  it('refuses values that keep services stopped for ever', () => {
    requireNoRebuild({ rebuild: [] })
    expect(() => requireNoRebuild({ rebuild: [service] })).to.throw(`rebuild: [${service}]`)
  })
})
