import { clusterMissing, daprNamespace, rolledOut } from '@orderflow/cluster'
import { buildTimeoutMs } from '@orderflow/cluster/installation'
import { services } from '@orderflow/stack'
import { eventually, newSecret } from '@orderflow/stack/base'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import { exhaustMemory, fillVolume } from './faults.ts'
import { type Shop, settled, startShop } from './shop.ts'

const title = 'an installation on a cluster, while faults happen and orders arrive'
const missing = await clusterMissing()
/** The time for which the API server answers nothing. Kubernetes then cannot replace pods. */
const awayMs = 60_000

if (missing) leaveOut(title, missing)
else describe(title, tests)

function tests(this: Mocha.Suite): void {
  // A pod may need minutes to start.
  this.timeout(300_000)
  this.bail(true)
  let cluster: Shop['cluster']
  let servers: Shop['servers']
  let shop: Shop['shop']
  let orders: Shop['orders']
  let stop: Shop['stop'] | undefined

  before(async function () {
    this.timeout(buildTimeoutMs)
    ;({ cluster, servers, shop, orders, stop } = await startShop())
    await shop.apply()
    orders.begin()
  })
  after(() => stop?.())

  /** Causes a fault of a container of payment-service, and waits until the kubelet has restarted the container. */
  const restarts = async (container: string, cause: (pid: number) => unknown, timeoutMs?: number) => {
    const pod = await shop.podNamed('payment-service')
    const statusOf = async () => {
      const { containerStatuses = [], initContainerStatuses = [] } = (await shop.get<Pod>('pod', pod)).status
      return [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container)
    }
    const before = (await statusOf())?.restartCount ?? 0
    await cause(await cluster.processOf(pod, container, shop.namespace))
    const restarted = await eventually(
      async () => {
        const status = await statusOf()
        return status && status.restartCount > before ? status : undefined
      },
      `the restart of ${container}`,
      timeoutMs,
    )
    await settled(shop)
    return restarted
  }

  it('restarts a suspended service and a suspended sidecar', async function () {
    // The kubelet notices a suspended sidecar after a minute and a half.
    this.timeout(600_000)
    for (const container of ['payment-service', 'daprd']) {
      await restarts(container, (pid) => process.kill(pid, 'SIGSTOP'), 150_000)
      await orders.pays()
    }
  })

  it('restarts a service that the kernel kills because it has no memory left', async () => {
    const { lastState } = await restarts('payment-service', exhaustMemory)
    expect(lastState.terminated).to.include({ reason: 'OOMKilled', exitCode: 137 })
    await orders.pays()
  })

  it('replaces a pod that the kubelet evicts because its volume is full', async () => {
    const pod = await shop.podNamed('event-monitor')
    fillVolume(await shop.processOf('event-monitor'), '/data', '4200M')
    const selector = `--field-selector=reason=Evicted,involvedObject.name=${pod}`
    const message = async () => (await shop.get<Events>('events', selector)).items[0]?.message
    expect(await eventually(message, 'the eviction of event-monitor')).to.contain('exceeds the limit "4Gi"')
    await shop.kubectl('delete', 'pod', pod)
    await settled(shop)
    await orders.pays()
  })

  it('changes the certificate of Kafka', async function () {
    this.timeout(600_000)
    await servers.changeCertificate(async (trusted) => {
      const stringData = { 'ca.crt': trusted }
      await shop.kubectl('patch', 'secret', 'kafka-ca', '--patch', JSON.stringify({ stringData }))
      await shop.kubectl('rollout', 'restart', 'deployment')
      await settled(shop)
    })
    await orders.pays()
  })

  it('changes tokens and passwords of services', async () => {
    for (const { name } of services) {
      const stringData = Object.fromEntries(secretKeys.map((key) => [key, newSecret()]))
      await shop.kubectl('patch', 'secret', `${name}-secrets`, '--patch', JSON.stringify({ stringData }))
    }
    // Sets the new passwords in Kafka.
    await shop.apply()
    await shop.kubectl('rollout', 'restart', 'deployment')
    await settled(shop)
    await orders.pays()
  })

  it('continues while the API server does not answer', async () => {
    cluster.signal('kube-apiserver', 'SIGSTOP')
    const until = Date.now() + awayMs
    try {
      while (Date.now() < until) await orders.pays()
    } finally {
      cluster.signal('kube-apiserver', 'SIGCONT')
    }
    await eventually(() => shop.kubectl('get', 'pods').catch(() => undefined), 'the API server')
  })

  it('changes to injected sidecars', async () => {
    await shop.apply('sidecar=injected')
    await orders.pays()
  })

  it('continues while the control plane of Dapr restarts', async () => {
    const workloads = ['deployment/dapr-operator', 'deployment/dapr-sentry', 'deployment/dapr-sidecar-injector']
    await cluster.kubectl('rollout', 'restart', ...workloads, '--namespace', daprNamespace)
    await orders.pays()
    await rolledOut(cluster, daprNamespace, ...workloads)
  })

  it('moves to another node when its node is drained', async () => {
    const name = await cluster.addNode()
    const selector = '--pod-selector=app.kubernetes.io/part-of=orderflow'
    await cluster.kubectl('drain', 'node-1', selector, '--delete-emptydir-data', '--timeout=180s')
    await settled(shop)
    await orders.pays()
    const { items } = await shop.get<Pods>(
      'pods',
      '--selector=app.kubernetes.io/part-of=orderflow,app.kubernetes.io/name!=setup',
    )
    expect(new Set(items.map(({ spec }) => spec.nodeName))).to.deep.equal(new Set([name]))
    await cluster.kubectl('uncordon', 'node-1')
  })

  it('pays each accepted order once', () => orders.requireEachPaidOnce(servers))
}

/** The keys of a service’s Secret that may change without an agreement between services. */
const secretKeys = ['APP_API_TOKEN', 'DAPR_API_TOKEN', 'DryRun__Token', 'Stream__SaslPassword']

interface Pod {
  status: { containerStatuses?: ContainerStatus[]; initContainerStatuses?: ContainerStatus[] }
}

interface Events {
  items: { message: string }[]
}

interface ContainerStatus {
  name: string
  restartCount: number
  lastState: { terminated?: { reason: string; exitCode: number } }
}

interface Pods {
  items: { metadata: { name: string; deletionTimestamp?: string }; spec: { nodeName: string } }[]
}
