import { anOrder, orderWith, post } from '@orderflow/chaos/clients/api'
import { audit, totals } from '@orderflow/chaos/ledger/audit'
import { openBook } from '@orderflow/chaos/ledger/book'
import { readApi } from '@orderflow/chaos/ledger/read-api'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { type Load, startHttpLoad } from '@orderflow/chaos/load/http-load'
import { approveUpTo } from '@orderflow/chaos/load/orders'
import { createTally } from '@orderflow/chaos/load/tally'
import { eventually, newSecret, nodeImage, operatorUser, services, timed } from '@orderflow/cli'
import { type Cluster, clusterMissing, daprNamespace, rolledOut, startCluster } from '@orderflow/cluster'
import { buildTimeoutMs, type Installation, prepareInstallation } from '@orderflow/cluster/installation'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import type { Order } from '@orderflow/order-service/domain'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import { fetchFrom, idle, podOf } from './objects.ts'

const title = 'the chart on a cluster'
const missing = await clusterMissing()
/** The time for which the API server answers nothing. Kubernetes then cannot replace pods. */
const awayMs = 60_000
const onProgress = timed()

if (missing) leaveOut(title, missing)
else describe(title, tests)

function tests(this: Mocha.Suite): void {
  this.bail(true)
  let cluster: Cluster
  let servers: Servers
  let shop: Installation
  const book = openBook({})
  const tally = createTally()
  let load: Load | undefined
  let isOver = false

  before(async function () {
    this.timeout(buildTimeoutMs)
    cluster = await startCluster({ dapr: true, networkPolicies: true, onProgress, waitMs: buildTimeoutMs })
    servers = await startServers(cluster, 'postgresql')
    shop = await prepareInstallation(cluster, servers)
    await cluster.loadImages([nodeImage])
  })
  after(async () => {
    isOver = true
    await load?.end()
    await cluster?.stop()
  })

  /** Waits until all pods are ready, and all services answer. A node learns the address of a new pod a moment later than the API server. */
  const settled = async () => {
    for (const { name } of services) {
      await shop.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=180s')
      const answers = () =>
        fetch(`${shop.urlOf(name)}/livez`).then(
          ({ ok }) => ok,
          () => false,
        )
      await eventually(answers, `an answer of ${name}`)
    }
  }
  let checked = 0
  let longestWaitMs = 0
  /** Places an order, and waits until it is paid. The ledger contains the order. */
  const pays = async () => {
    checked += 1
    const order = { ...anOrder, customerName: `checked ${checked}` }
    book.attempted({ name: order.customerName, source: 'http', total: order.total })
    const begun = performance.now()
    const { status, body } = await post<Order>(`${shop.urlOf('order-service')}/v1/orders`, order)
    expect(status, JSON.stringify(body)).to.equal(201)
    book.accepted(order.customerName, body.id)
    await orderWith(shop.urlOf('order-service'), body.id, 'Paid')
    longestWaitMs = Math.max(longestWaitMs, performance.now() - begun)
  }

  describe('an installation', () => {
    it('names the key that a Secret lacks', async () => {
      await shop.kubectl(
        'patch',
        'secret',
        'payment-service-secrets',
        '--type=json',
        '--patch',
        removed('DAPR_API_TOKEN'),
      )
      const refusal = await shop.apply().catch((error: Error) => error.message)
      expect(refusal).to.contain('the Secret payment-service-secrets has no key DAPR_API_TOKEN')
      const token = JSON.stringify({ stringData: { DAPR_API_TOKEN: 'a-token-for-this-test-only' } })
      await shop.kubectl('patch', 'secret', 'payment-service-secrets', '--patch', token)
    })

    it('runs under the Pod Security Standard "restricted", and pays an order', async () => {
      await shop.apply()
      await pays()
    })

    it('lets pods of the namespace call services, but not their ports of metrics', async () => {
      const caller = { program: idle, namespace: shop.namespace }
      await cluster.applyManifest([podOf('caller', caller), podOf('stranger', { program: idle })])
      await shop.kubectl('wait', '--for=condition=Ready', 'pod/caller', '--timeout=60s')
      await cluster.kubectl('wait', '--for=condition=Ready', 'pod/stranger', '--timeout=60s')
      const { http } = services[0] as { http: number }
      const name = `order-service.${shop.namespace}`
      const { namespace } = shop
      const called = await fetchFrom(cluster, 'caller', `http://${name}:${http}/livez`, namespace)
      expect(JSON.parse(called)).to.deep.equal({ status: 'up' })
      const metrics = `http://order-service-metrics.${namespace}:3900/metrics`
      expect(await fetchFrom(cluster, 'caller', metrics, namespace)).to.equal('no answer\n')
      expect(await fetchFrom(cluster, 'stranger', `http://${name}:${http}/livez`)).to.equal('no answer\n')
    })
  })

  describe('the admission of the chart', () => {
    const deployment = (change: object) =>
      shop.kubectl('patch', 'deployment', 'payment-service', '--dry-run=server', '--patch', JSON.stringify(change))
    const template = (change: object) => ({ spec: { template: change } })
    const component = (change: object, spec: object = {}) => {
      const metadata = [{ name: 'brokers', value: 'kafka:9092' }]
      const object = {
        ...{ apiVersion: 'dapr.io/v1alpha1', kind: 'Component', metadata: { name: 'changed' } },
        ...{ scopes: ['order-service'], spec: { type: 'pubsub.kafka', version: 'v1', metadata, ...spec }, ...change },
      }
      return cluster.applyManifest([object], '--dry-run=server', `--namespace=${shop.namespace}`)
    }
    const withoutToken = [{ name: 'payment-service', env: [{ name: 'DAPR_API_TOKEN', $patch: 'delete' }] }]
    const mistakes: [what: string, refusal: string, make: () => Promise<unknown>][] = [
      [
        'a misspelt annotation',
        'Dapr does not know the annotations dapr.io/app-idd',
        () => deployment(template({ metadata: { annotations: { 'dapr.io/app-idd': 'payment-service' } } })),
      ],
      [
        'a missing sidecar',
        'its pods would have no sidecar',
        () => deployment(template({ spec: { initContainers: [{ name: 'daprd', $patch: 'delete' }] } })),
      ],
      [
        'a missing token',
        'lack the variable APP_API_TOKEN or DAPR_API_TOKEN: payment-service',
        () => deployment(template({ spec: { containers: withoutToken } })),
      ],
      ['a component without scopes', 'it has no scopes', () => component({ scopes: [] })],
      ['an unknown scope', 'its scopes name order-servise', () => component({ scopes: ['order-servise'] })],
      [
        'an unknown name in the metadata of a component',
        'its spec.metadata contains broker, which pubsub.kafka does not have',
        () => component({}, { metadata: [{ name: 'broker', value: 'kafka:9092' }] }),
      ],
    ]

    before(async () => {
      await shop.apply('admission.enabled=true')
      await eventually(
        () =>
          component({ scopes: [] }).then(
            () => false,
            () => true,
          ),
        'the admission policies',
      )
    })

    for (const [what, refusal, make] of mistakes) {
      it(`refuses ${what}, and names the mistake`, async () => {
        const message = await make().then(
          () => 'accepted',
          (error: Error) => error.message,
        )
        expect(message).to.contain(refusal)
      })
    }

    it('accepts components with the names and scopes of this application', async () => {
      await component({})
    })
  })

  describe('faults while orders arrive', () => {
    before(() => {
      const plan = (index: number) => ({ name: `cluster ${index}`, total: 42.5, cancelAfterMs: undefined })
      const options = { book, tally, keys: 'k', isOver: () => isOver, patienceMs: 250 }
      load = startHttpLoad(plan, 5, { ...options, urls: [shop.urlOf('order-service')] })
    })

    it('restarts a killed sidecar and a killed service', async () => {
      await cluster.signalContainer('SIGKILL', await shop.podNamed('payment-service'), 'daprd', shop.namespace)
      await pays()
      await cluster.signalContainer('SIGKILL', await shop.podNamed('order-service'), 'order-service', shop.namespace)
      await settled()
      await pays()
    })

    it('replaces a deleted pod', async () => {
      await shop.kubectl('delete', 'pod', await shop.podNamed('payment-service'), '--wait=false')
      await pays()
      await settled()
    })

    it('restarts a suspended service and a suspended sidecar', async function () {
      // The kubelet notices a suspended sidecar after a minute and a half.
      this.timeout(600_000)
      for (const container of ['payment-service', 'daprd']) {
        const pod = await shop.podNamed('payment-service')
        const restarts = async () => {
          const { status } = await shop.get<Pod>('pod', pod)
          const statuses = [...status.containerStatuses, ...(status.initContainerStatuses ?? [])]
          return statuses.find(({ name }) => name === container)?.restartCount ?? 0
        }
        const before = await restarts()
        await cluster.signalContainer('SIGSTOP', pod, container, shop.namespace)
        await eventually(async () => (await restarts()) > before, `the restart of ${container}`, 150_000)
        await settled()
        await pays()
      }
    })

    it('changes tokens and passwords of services', async () => {
      for (const { name } of services) {
        const stringData = Object.fromEntries(secretKeys.map((key) => [key, newSecret()]))
        await shop.kubectl('patch', 'secret', `${name}-secrets`, '--patch', JSON.stringify({ stringData }))
      }
      // Sets the new passwords in Kafka.
      await shop.apply('admission.enabled=true')
      await shop.kubectl('rollout', 'restart', 'deployment')
      await settled()
      await pays()
    })

    it('continues while the API server does not answer', async () => {
      cluster.signal('kube-apiserver', 'SIGSTOP')
      const until = Date.now() + awayMs
      try {
        while (Date.now() < until) await pays()
      } finally {
        cluster.signal('kube-apiserver', 'SIGCONT')
      }
      await eventually(() => shop.kubectl('get', 'pods').catch(() => undefined), 'the API server')
    })

    it('changes to injected sidecars without an interruption', async () => {
      await shop.apply('admission.enabled=true', 'sidecar=injected')
      await pays()
    })

    it('continues while the control plane of Dapr restarts', async () => {
      const workloads = ['deployment/dapr-operator', 'deployment/dapr-sentry', 'deployment/dapr-sidecar-injector']
      await cluster.kubectl('rollout', 'restart', ...workloads, '--namespace', daprNamespace)
      await pays()
      await rolledOut(cluster, daprNamespace, ...workloads)
    })

    it('moves to another node when its node is drained', async () => {
      const name = await cluster.addNode()
      const selector = '--pod-selector=app.kubernetes.io/part-of=orderflow'
      await cluster.kubectl('drain', 'node-1', selector, '--delete-emptydir-data', '--timeout=180s')
      await settled()
      await pays()
      const { items } = await shop.get<Pods>(
        'pods',
        '--selector=app.kubernetes.io/part-of=orderflow,app.kubernetes.io/name!=setup',
      )
      expect(new Set(items.map(({ spec }) => spec.nodeName))).to.deep.equal(new Set([name]))
      await cluster.kubectl('uncordon', 'node-1')
    })

    it('pays each accepted order once', async () => {
      await load?.end()
      const placed = book.query<{ id: string }>('SELECT id FROM attempt')
      for (const { id } of placed) await orderWith(shop.urlOf('order-service'), id, 'Paid')
      await readLog(servers.kafkaOf(operatorUser), book)
      await readApi((service) => shop.urlOf(service), book)
      const findings = audit(book, { views: ['api'], approveUpTo })
      const accepted = book.query('SELECT 1 FROM attempt WHERE accepted').length
      const { lost, duplicated } = totals(findings)
      console.log(
        `      ${accepted} accepted orders, ${lost} lost, ${duplicated} duplicated; the longest wait for a payment was ${Math.round(longestWaitMs / 1_000)} s`,
      )
      expect(findings, JSON.stringify(findings)).to.deep.equal([])
      expect(accepted).to.be.above(100)
    })
  })

  describe('the end of an installation', () => {
    it('leaves only Secrets and the last setup behind', async () => {
      await cluster.helm('uninstall', 'orderflow', '--namespace', shop.namespace, '--wait')
      const kinds = 'deployments,services,configmaps,networkpolicies,components.dapr.io,serviceaccounts'
      const names = await shop.kubectl('get', kinds, '--output=name')
      const own = names.split('\n').filter((name) => name && !/kube-root-ca|dapr-trust-bundle|default$/.test(name))
      expect(own).to.deep.equal(['networkpolicy.networking.k8s.io/orderflow-setup'])
      const policies = 'validatingadmissionpolicies,validatingadmissionpolicybindings'
      expect(await cluster.kubectl('get', policies, '--output=name')).not.to.contain('orderflow')
    })
  })
}

const removed = (key: string) => JSON.stringify([{ op: 'remove', path: `/data/${key}` }])

/** The keys of a service’s Secret that may change without an agreement between services. */
const secretKeys = ['APP_API_TOKEN', 'DAPR_API_TOKEN', 'DryRun__Token', 'Stream__SaslPassword']

interface Pod {
  status: {
    containerStatuses: ContainerStatus[]
    initContainerStatuses?: ContainerStatus[]
  }
}

interface ContainerStatus {
  name: string
  restartCount: number
}

interface Pods {
  items: { metadata: { name: string; deletionTimestamp?: string }; spec: { nodeName: string } }[]
}
