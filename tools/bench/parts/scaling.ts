import { setTimeout as delay } from 'node:timers/promises'
import { CliError, publishUser, timed } from '@orderflow/cli'
import { clusterMissing, startCluster } from '@orderflow/cluster'
import { buildTimeoutMs, type Installation, prepareInstallation } from '@orderflow/cluster/installation'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import { orderEvents as orderEventsTopic } from '@orderflow/envelope-schema'
import { type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { orderEvents } from '../support/events.ts'
import { placeOrders } from '../support/load.ts'
import { openStream } from '../support/stream.ts'

const service = 'payment-service'
const ordersPerSecond = 5
const unlimited = 1_000_000

/** The triggers of KEDA. Each one is measured alone: the other one gets a limit that it never reaches. */
const triggers = [
  { name: 'lag: 500 events', lag: 500, waitSeconds: unlimited },
  { name: 'age: 20 s', lag: unlimited, waitSeconds: 20 },
]

interface Outcome {
  name: string
  /** The events of a burst that one replica handles in some seconds. */
  burst: { replicas: number; seconds: number }
  /** Seconds until a second replica exists, while the first one is suspended. */
  suspended: number
}

/** Compares the number of waiting events with the age of the oldest one, as the trigger for more replicas. */
export const scaling: Part = {
  title: 'replicas of payment-service by the number of waiting events, and by the age of the oldest one',

  async measure({ quick, tell }) {
    const missing = await clusterMissing()
    if (missing) throw new CliError('tools-missing', missing)
    const cluster = await startCluster({
      keda: true,
      networkPolicies: true,
      onProgress: timed(),
      waitMs: buildTimeoutMs,
    })
    try {
      const servers = await startServers(cluster, 'postgresql')
      const shop = await prepareInstallation(cluster, servers)
      const outcomes: Outcome[] = []
      for (const { name, lag, waitSeconds } of triggers) {
        tell(name)
        const scale = () =>
          shop.apply('scaling.enabled=true', `scaling.lag=${lag}`, `scaling.waitSeconds=${waitSeconds}`)
        await scale()
        const burst = await measureBurst(shop, servers, quick ? 1_000 : 30_000)
        tell(`burst: ${JSON.stringify(burst)}`)
        // Without its ScaledObject, the Deployment gets its one replica back.
        await shop.apply('scaling.enabled=false')
        await scale()
        const suspended = await measureSuspended(shop)
        tell(`suspended: ${suspended} s`)
        await shop.apply('scaling.enabled=false')
        outcomes.push({ name, burst, suspended })
      }
      return findings(outcomes)
    } finally {
      await cluster.stop()
    }
  },
}

const replicasOf = async (shop: Installation) =>
  (await shop.get<{ spec: { replicas: number } }>('deployment', service)).spec.replicas

/** Publishes events at once. Watches the replicas for a minute after the last event was handled. */
async function measureBurst(shop: Installation, servers: Servers, events: number): Promise<Outcome['burst']> {
  const stream = openStream(servers.kafkaOf(publishUser))
  await stream.publish(orderEventsTopic, [...orderEvents(events)])
  const begun = performance.now()
  await stream.close()
  let replicas = 1
  let seconds = 0
  let quietSince = Number.POSITIVE_INFINITY
  while (performance.now() < quietSince + 60_000) {
    replicas = Math.max(replicas, await replicasOf(shop))
    if ((await oldestSeconds(shop)) > 0) quietSince = Number.POSITIVE_INFINITY
    else if (quietSince === Number.POSITIVE_INFINITY) {
      quietSince = performance.now()
      seconds = (quietSince - begun) / 1_000
    }
    await delay(1_000)
  }
  return { replicas, seconds }
}

async function measureSuspended(shop: Installation): Promise<number> {
  // The kubelet would restart the suspended container before the number of events is reached.
  process.kill(await shop.processOf(service, 'daprd'), 'SIGSTOP')
  const begun = performance.now()
  const seconds = () => (performance.now() - begun) / 1_000
  while ((await replicasOf(shop)) < 2) {
    await placeOrders(`${shop.urlOf('order-service')}/v1/orders`, ordersPerSecond, 1)
    if (seconds() > 300) return Number.POSITIVE_INFINITY
  }
  return seconds()
}

/** Reads the age of the oldest unhandled event from the exporter, as KEDA does. */
async function oldestSeconds({ kubectl }: Installation): Promise<number> {
  const program = `fetch('http://localhost:9091/metrics').then((answer) => answer.text()).then(console.log)`
  const text = await kubectl('exec', 'deployment/exporter', '--', 'node', '--eval', program)
  const [, value] =
    new RegExp(`^orderflow_oldest_unhandled_seconds\\{group="${service}".*\\} (\\S+)$`, 'm').exec(text) ?? []
  return Number(value)
}

function findings(outcomes: Outcome[]): Findings {
  return {
    tables: [
      {
        title: 'A burst that one replica handles, and a replica that is suspended',
        head: ['trigger', 'burst: most replicas', 'burst handled after s', 'suspended: second replica after s'],
        rows: outcomes.map(({ name, burst, suspended }) => [
          name,
          number(burst.replicas),
          number(burst.seconds, 1),
          number(suspended, 1),
        ]),
      },
    ],
    goals: [],
    charts: [],
    figures: outcomes,
  }
}
