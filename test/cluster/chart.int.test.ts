import { clusterMissing } from '@orderflow/cluster'
import { buildTimeoutMs } from '@orderflow/cluster/installation'
import { services } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { images } from '@orderflow/stack/machine'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import { fetchFrom, idle, podOf } from './objects.ts'
import { resourcesForOperators } from './operators.ts'
import { type Shop, settled, startShop } from './shop.ts'

const title = 'the chart on a cluster'
const missing = await clusterMissing()

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
    await cluster.loadImages([images.node])
  })
  after(() => stop?.())

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
      await orders.pays()
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

  resourcesForOperators(() => cluster)

  describe('the services, while orders arrive', () => {
    before(() => orders.begin())

    it('restart after their processes and those of sidecars are killed', async () => {
      process.kill(await shop.processOf('payment-service', 'daprd'), 'SIGKILL')
      await orders.pays()
      process.kill(await shop.processOf('order-service'), 'SIGKILL')
      await settled(shop)
      await orders.pays()
    })

    it('continue after a pod is deleted', async () => {
      await shop.kubectl('delete', 'pod', await shop.podNamed('payment-service'), '--wait=false')
      await orders.pays()
      await settled(shop)
    })

    it('change to injected sidecars without an interruption', async () => {
      await shop.apply('admission.enabled=true', 'sidecar=injected')
      await orders.pays()
    })

    it('pay each accepted order once', () => orders.requireEachPaidOnce(servers))
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
