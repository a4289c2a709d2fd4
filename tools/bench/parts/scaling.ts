import { setTimeout as delay } from 'node:timers/promises'
import { type Cluster, clusterMissing, startCluster } from '@orderflow/cluster'
import { buildTimeoutMs, type Installation, prepareInstallation } from '@orderflow/cluster/installation'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import { orderEvents as orderEventsTopic } from '@orderflow/envelope-schema'
import { type KafkaConnection, services } from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'
import { publishUser } from '@orderflow/stack/internals'
import { operatorUser, withAdmin } from '@orderflow/stack/operate'
import { type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { orderEvents } from '../support/events.ts'
import { placeOrders } from '../support/load.ts'
import { openStream } from '../support/stream.ts'

const service = 'payment-service'
const ordersPerSecond = 5
const unlimited = 1_000_000

/** The triggers of KEDA. The first one is measured alone, because the age gets a limit that it never reaches. */
const triggers = [
  { name: 'lag: 500 events', lag: 500, waitSeconds: unlimited },
  { name: 'age: 20 s (chart)', lag: 0, waitSeconds: 20 },
]

interface Outcome {
  name: string
  /** The events of a burst that one replica handles in some seconds. */
  burst: { replicas: number; seconds: number }
  /** Seconds until a second replica exists, while the first one is suspended. */
  suspended: number
}

/** The rules for changes of replicas. KEDA's own behavior adds four replicas at once, and here it removes them as soon as no event waits. */
const behaviors = [
  { name: 'chart', patch: undefined },
  { name: 'KEDA, without a delay', patch: { scaleDown: { stabilizationWindowSeconds: 0 }, scaleUp: null } },
]

interface Steadiness {
  name: string
  /** The largest number of replicas. */
  replicas: number
  rebalances: number
  /** Seconds in which the consumer group had no assignment of partitions. */
  unassigned: number
}

/** Compares the triggers for more replicas: the number of waiting events, and the age of the oldest one. Counts rebalances with several bursts. */
export const scaling: Part = {
  title: 'replicas of payment-service that KEDA manages',

  async measure({ quick, tell }) {
    const missing = await clusterMissing()
    if (missing) throw new CliError('tools-missing', missing)
    const cluster = await startCluster({ keda: true, networkPolicies: true, onProgress: tell, waitMs: buildTimeoutMs })
    try {
      const servers = await startServers(cluster, 'postgresql')
      const shop = await prepareInstallation(cluster, servers)
      const events = quick ? 1_000 : 30_000
      const outcomes: Outcome[] = []
      for (const { name, lag, waitSeconds } of triggers) {
        tell(name)
        await scale(shop, `scaling.lag=${lag}`, `scaling.waitSeconds=${waitSeconds}`)
        const burst = await measureBurst(cluster, shop, servers, events)
        tell(`burst: ${JSON.stringify(burst)}`)
        await resetReplicas(shop)
        await scale(shop, `scaling.lag=${lag}`, `scaling.waitSeconds=${waitSeconds}`)
        const suspended = await measureSuspended(shop)
        tell(`suspended: ${suspended} s`)
        await resetReplicas(shop)
        outcomes.push({ name, burst, suspended })
      }
      const steadiness: Steadiness[] = []
      for (const { name, patch } of behaviors) {
        await scale(shop)
        const behavior = { spec: { advanced: { horizontalPodAutoscalerConfig: { behavior: patch } } } }
        if (patch)
          await shop.kubectl('patch', 'scaledobject', service, '--type=merge', '--patch', JSON.stringify(behavior))
        const measured = await measureSteadiness(shop, servers, quick ? 1 : 3, events)
        tell(`${name}: ${JSON.stringify(measured)}`)
        steadiness.push({ name, ...measured })
        await resetReplicas(shop)
      }
      return findings(outcomes, steadiness)
    } finally {
      await cluster.stop()
    }
  },
}

/** The replicas must fit on the two cores of a small machine, so they request less than by default. */
const requests = ['sidecarResources', ...services.map(({ name }) => `services.${name}.resources`)].map(
  (of) => `${of}.requests.cpu=10m`,
)

const scale = ({ apply }: Installation, ...values: string[]) =>
  apply(['scaling.enabled=true', ...requests, ...values].join())

/** Removes the ScaledObject. The chart then gives the Deployment its one replica back. */
const resetReplicas = ({ apply }: Installation) => apply(['scaling.enabled=false', ...requests].join())

const replicasOf = async (shop: Installation) =>
  (await shop.get<{ spec: { replicas: number } }>('deployment', service)).spec.replicas

async function publishBurst(servers: Servers, events: number): Promise<void> {
  const stream = openStream(servers.kafkaOf(publishUser))
  await stream.publish(orderEventsTopic, [...orderEvents(events)])
  await stream.close()
}

/** Publishes events at once. Watches the replicas for a minute after the last event was handled. */
async function measureBurst(
  cluster: Cluster,
  shop: Installation,
  servers: Servers,
  events: number,
): Promise<Outcome['burst']> {
  await publishBurst(servers, events)
  const begun = performance.now()
  let replicas = 1
  let seconds = 0
  let quietSince = Number.POSITIVE_INFINITY
  while (performance.now() < quietSince + 60_000) {
    replicas = Math.max(replicas, await replicasOf(shop))
    if ((await oldestSeconds(cluster, shop.namespace)) > 0) quietSince = Number.POSITIVE_INFINITY
    else if (quietSince === Number.POSITIVE_INFINITY) {
      quietSince = performance.now()
      seconds = (quietSince - begun) / 1_000
    }
    await delay(1_000)
  }
  return { replicas, seconds }
}

async function measureSuspended(shop: Installation): Promise<number> {
  // The kubelet would restart a suspended service before the number of events is reached, but not its sidecar.
  process.kill(await shop.processOf(service, 'daprd'), 'SIGSTOP')
  const begun = performance.now()
  const seconds = () => (performance.now() - begun) / 1_000
  while ((await replicasOf(shop)) < 2) {
    await placeOrders(`${shop.urlOf('order-service')}/v1/orders`, ordersPerSecond, 1)
    if (seconds() > 300) return Number.POSITIVE_INFINITY
  }
  return seconds()
}

const pauseSeconds = 70

/** Publishes several bursts, with a pause after each one. */
async function measureSteadiness(
  shop: Installation,
  servers: Servers,
  bursts: number,
  events: number,
): Promise<Omit<Steadiness, 'name'>> {
  const group = watchGroup(servers.kafkaOf(operatorUser))
  let replicas = 1
  for (let number = 0; number < bursts; number += 1) {
    await publishBurst(servers, events)
    const end = performance.now() + pauseSeconds * 1_000
    while (performance.now() < end) {
      replicas = Math.max(replicas, await replicasOf(shop))
      await delay(1_000)
    }
  }
  return { replicas, ...(await group.end()) }
}

/** Asks Kafka ten times a second for the state of the service's consumer group. */
function watchGroup(kafka: KafkaConnection) {
  let isOver = false
  let rebalances = 0
  let unassignedMs = 0
  const watching = withAdmin(kafka, async (admin) => {
    let wasStable = true
    let last = performance.now()
    while (!isOver) {
      const isStable = (await admin.describeGroups({ groups: [service] })).get(service)?.state === 'Stable'
      const now = performance.now()
      if (!isStable) unassignedMs += now - last
      if (wasStable && !isStable) rebalances += 1
      wasStable = isStable
      last = now
      await delay(100)
    }
  })
  return {
    async end() {
      isOver = true
      await watching
      return { rebalances, unassigned: unassignedMs / 1_000 }
    },
  }
}

/** Reads the age of the oldest unhandled event from the exporter, as KEDA does. */
async function oldestSeconds({ kubectl }: Cluster, namespace: string): Promise<number> {
  const program = `fetch('http://localhost:9091/metrics').then((answer) => answer.text()).then(console.log)`
  const text = await kubectl('exec', '--namespace', namespace, 'deployment/exporter', '--', 'node', '--eval', program)
  const [, value] =
    new RegExp(`^orderflow_oldest_unhandled_seconds\\{group="${service}".*\\} (\\S+)$`, 'm').exec(text) ?? []
  return Number(value)
}

function findings(outcomes: Outcome[], steadiness: Steadiness[]): Findings {
  return {
    tables: [
      {
        title: 'A burst that one replica handles, and a replica whose sidecar is suspended',
        head: ['trigger', 'burst: most replicas', 'burst handled after s', 'suspended: second replica after s'],
        rows: outcomes.map(({ name, burst, suspended }) => [
          name,
          number(burst.replicas),
          number(burst.seconds, 1),
          number(suspended, 1),
        ]),
      },
      {
        title: `Several bursts with ${pauseSeconds} s after each one`,
        head: ['changes of replicas', 'most replicas', 'rebalances', 'seconds without partitions'],
        rows: steadiness.map(({ name, replicas, rebalances, unassigned }) => [
          name,
          number(replicas),
          number(rebalances),
          number(unassigned, 1),
        ]),
      },
    ],
    goals: [],
    figures: { outcomes, steadiness },
  }
}
