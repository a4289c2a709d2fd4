import { type Cluster, clusterMissing, startCluster } from '@orderflow/cluster'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import { withAdmin } from '@orderflow/kafka-log'
import { inDatabase } from '@orderflow/stack'
import { eventually, timed } from '@orderflow/stack/base'
import { ensureAccess, publishUser } from '@orderflow/stack/internals'
import { images } from '@orderflow/stack/machine'
import { operatorUser, topics } from '@orderflow/stack/operate'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import pg from 'pg'
import { inspectMachine, processesOf } from './machine.ts'
import { deploymentOf, fetchFrom, idle, podOf, serviceOf, webServer } from './objects.ts'

const title = 'the cluster of tools/cluster'
const missing = await clusterMissing()

/** The longest time for the first build of all programs and images, in milliseconds. */
const buildTimeoutMs = 60 * 60_000
const onProgress = timed()

if (missing) leaveOut(title, missing)
else describe(title, tests)

function tests(this: Mocha.Suite): void {
  // A pod may need minutes to start.
  this.timeout(300_000)
  let initial: Record<string, unknown>
  let cluster: Cluster

  before(async function () {
    this.timeout(buildTimeoutMs)
    initial = await inspectMachine()
    cluster = await startCluster({
      dapr: true,
      keda: true,
      networkPolicies: true,
      onProgress,
      waitMs: buildTimeoutMs,
    })
    await cluster.loadImages([images.node])
    await cluster.applyManifest([deploymentOf('web', 2, { program: webServer({ value: 30 }) }), serviceOf('web')])
    await cluster.applyManifest([podOf('client', { program: idle })])
    await ready('--for=condition=Available', 'deployment/web')
    await ready('--for=condition=Ready', 'pod/client')
  })
  after(() => cluster?.stop())

  const ready = (condition: string, object: string) => cluster.kubectl('wait', condition, object, '--timeout=60s')
  const addressOf = async (service: string) =>
    (await cluster.get<{ spec: { clusterIP: string } }>('service', service)).spec.clusterIP
  const fetchIn = (pod: string, url: string) => fetchFrom(cluster, pod, url)

  /** Waits until a pod gets an answer from a Service. A node learns changed addresses of a Service a moment later than the API server. */
  const answers = (pod: string, service: string) =>
    eventually(async () => (await fetchIn(pod, `http://${service}`)).includes('{'), `an answer of ${service} to ${pod}`)

  describe('Kubernetes with Dapr and KEDA', () => {
    it('lets this machine reach a Service by its address, and a pod by the name of the Service', async () => {
      const answer = await fetch(`http://${await addressOf('web')}`)
      expect(await answer.json()).to.deep.equal({ value: 30 })
      for (const name of ['web', 'web.default.svc.cluster.local']) {
        expect(JSON.parse(await fetchIn('client', `http://${name}`))).to.deep.equal({ value: 30 })
      }
    })

    it('kills a container that exceeds its memory limit', async () => {
      const program = 'const all = []; setInterval(() => all.push(Buffer.alloc(8e6, 1)), 10)'
      await cluster.applyManifest([podOf('greedy', { program, memory: '128Mi' })])
      const terminated = await eventually(async () => {
        const { status } = await cluster.get<PodStatus>('pod', 'greedy')
        const [{ state, lastState } = {}] = status.containerStatuses ?? []
        return state?.terminated ?? lastState?.terminated
      }, 'the end of the container')
      expect(terminated).to.include({ reason: 'OOMKilled', exitCode: 137 })
      await cluster.kubectl('delete', 'pod', 'greedy', '--now')
    })

    it('adds a sidecar of Dapr to a pod, and the sidecar becomes ready', async () => {
      const annotations = { 'dapr.io/enabled': 'true', 'dapr.io/app-id': 'with-sidecar' }
      await cluster.applyManifest([podOf('with-sidecar', { program: idle, annotations })])
      await ready('--for=condition=Ready', 'pod/with-sidecar')
      const answer = await fetchIn('with-sidecar', 'http://127.0.0.1:3500/v1.0/metadata')
      expect(JSON.parse(answer)).to.include({ id: 'with-sidecar' })
    })

    it('scales a deployment from zero by a metric', async () => {
      const trigger = { url: 'http://web.default.svc.cluster.local', valueLocation: 'value', targetValue: '10' }
      await cluster.applyManifest([
        deploymentOf('scaled', 0, { program: idle }),
        {
          apiVersion: 'keda.sh/v1alpha1',
          kind: 'ScaledObject',
          metadata: { name: 'scaled', namespace: 'default' },
          spec: {
            scaleTargetRef: { name: 'scaled' },
            pollingInterval: 2,
            minReplicaCount: 0,
            maxReplicaCount: 3,
            triggers: [{ type: 'metrics-api', metadata: trigger }],
          },
        },
      ])
      await ready('--for=jsonpath={.status.readyReplicas}=3', 'deployment/scaled')
      await cluster.kubectl('delete', 'scaledobject/scaled', 'deployment/scaled')
    })

    it('enforces a network policy for connections between pods', async () => {
      const policy = {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'guarded', namespace: 'default' },
        spec: {
          podSelector: { matchLabels: { app: 'guarded' } },
          ingress: [{ from: [{ podSelector: { matchLabels: { role: 'friend' } } }] }],
        },
      }
      await cluster.applyManifest([
        policy,
        podOf('guarded', { program: webServer({ guarded: true }) }),
        serviceOf('guarded'),
        podOf('friend', { program: idle, labels: { role: 'friend' } }),
      ])
      for (const pod of ['guarded', 'friend']) await ready('--for=condition=Ready', `pod/${pod}`)
      await answers('friend', 'guarded')
      expect((await fetchIn('client', 'http://guarded')).trim()).to.equal('no answer')
      await cluster.kubectl('delete', 'networkpolicy/guarded')
      await answers('client', 'guarded')
    })

    it('restarts a killed container', async () => {
      process.kill(await cluster.processOf('client', 'main'), 'SIGKILL')
      await ready('--for=jsonpath={.status.containerStatuses[0].restartCount}=1', 'pod/client')
      await ready('--for=condition=Ready', 'pod/client')
    })

    it('keeps Services reachable while the API server is stopped', async () => {
      const address = await addressOf('web')
      cluster.signal('kube-apiserver', 'SIGSTOP')
      try {
        const failure = await cluster
          .kubectl('get', 'nodes', '--request-timeout=2s')
          .catch((error: Error) => error.message)
        expect(failure).to.match(/timeout|deadline|Timeout/)
        expect((await fetch(`http://${address}`)).status).to.equal(200)
      } finally {
        cluster.signal('kube-apiserver', 'SIGCONT')
      }
      expect(await cluster.kubectl('get', 'nodes')).to.contain('node-1')
    })
  })

  describe('Kafka and PostgreSQL', () => {
    let servers: Servers
    before(async function () {
      this.timeout(buildTimeoutMs)
      servers = await startServers(cluster, 'postgresql')
    })

    it('creates the topics of services.json', async () => {
      const names = await withAdmin(servers.kafkaOf(operatorUser), (admin) => admin.listTopics())
      expect(names).to.include.members(topics.containers.map(({ name }) => name))
    })

    it('lets a user of Kafka see only the topics of its rights, and refuses a wrong password', async () => {
      const names = await withAdmin(servers.kafkaOf(publishUser), (admin) => admin.listTopics())
      expect(names).not.to.include.members(topics.containers.map(({ name }) => name))
      const { sasl, ...connection } = servers.kafkaOf(publishUser)
      const wrong = { ...connection, sasl: { ...sasl, password: 'wrong' } } as typeof connection
      const refusal = await withAdmin(wrong, (admin) => admin.listTopics()).catch((error: Error) => error)
      expect(refusal).to.be.an('error')
    })

    it('keeps records of a broker whose container is killed', async () => {
      process.kill(await cluster.processOf('kafka-0', 'kafka'), 'SIGKILL')
      const listed = () =>
        withAdmin(servers.kafkaOf(operatorUser), (admin) => admin.listTopics()).catch(() => undefined)
      await ready('--for=jsonpath={.status.initContainerStatuses[1].restartCount}=1', 'pod/kafka-0')
      expect(await eventually(listed, 'the broker')).to.include.members(topics.containers.map(({ name }) => name))
    })

    it('creates the databases of the services', async () => {
      const { password, address } = servers.store
      const connectionString = inDatabase(servers.storeUri.replace(/@[^:]+/, `@${address}`), 'postgres')
      const client = new pg.Client({ connectionString, password })
      await client.connect()
      const { rows } = await client.query('SELECT datname FROM pg_database')
      await client.end()
      expect(rows.map(({ datname }) => datname)).to.include.members(['order-service', 'payment-service'])
    })

    it('keeps topics, databases and changed passwords of servers whose pods are deleted', async () => {
      const operator = servers.kafkaOf(operatorUser)
      // The job setup of an installation sets passwords of its own.
      await ensureAccess(operator, { ...servers.passwords, [publishUser]: 'changed' }, { isOwn: false })
      await cluster.kubectl('delete', 'pod', 'kafka-0', 'postgresql-0')
      for (const set of ['kafka', 'postgresql'])
        await cluster.kubectl('rollout', 'status', `statefulset/${set}`, '--timeout=120s')
      const { sasl, ...connection } = servers.kafkaOf(publishUser)
      const changed = { ...connection, sasl: { ...sasl, password: 'changed' } } as typeof operator
      const listed = () => withAdmin(changed, (admin) => admin.listTopics()).catch(() => undefined)
      expect(await eventually(listed, 'the publisher')).not.to.equal(undefined)
      const names = await withAdmin(operator, (admin) => admin.listTopics())
      expect(names).to.include.members(topics.containers.map(({ name }) => name))
      const found = await cluster.kubectl(
        ...['exec', 'postgresql-0', '--', 'psql', '--username=orderflow', '--tuples-only', '--no-align'],
        '--command=SELECT datname FROM pg_database',
      )
      expect(found.split('\n')).to.include.members(['order-service', 'payment-service'])
    })
  })

  describe('a second node', () => {
    it('moves pods to a second node when the first one is drained', async () => {
      const name = await cluster.addNode()
      await cluster.kubectl('drain', 'node-1', '--pod-selector=app=web', '--timeout=60s')
      await ready('--for=condition=Available', 'deployment/web')
      const { items } = await cluster.get<{ items: { spec: { nodeName: string } }[] }>('pods', '--selector=app=web')
      expect(items.map(({ spec }) => spec.nodeName)).to.deep.equal([name, name])
      await answers('client', 'web')
      expect((await fetch(`http://${await addressOf('web')}`)).status).to.equal(200)
      await cluster.kubectl('uncordon', 'node-1')
    })
  })

  describe('the end of the cluster', () => {
    it('refuses a second cluster, and names the owner of the first', async () => {
      const refusal = await startCluster({ onProgress: () => {} }).catch((error: Error) => error)
      expect((refusal as Error).message).to.contain(`process ${process.pid} in ${cluster.folder}, since 20`)
    })

    it('leaves the machine as it was when it stops', async () => {
      expect(processesOf(cluster.folder)).not.to.have.length(0)
      await cluster.stop()
      expect(processesOf(cluster.folder)).to.deep.equal([])
      expect(await inspectMachine()).to.deep.equal(initial)
    })
  })
}

interface PodStatus {
  status: { containerStatuses?: { state: ContainerState; lastState: ContainerState }[] }
}

interface ContainerState {
  terminated?: { reason: string; exitCode: number }
}
