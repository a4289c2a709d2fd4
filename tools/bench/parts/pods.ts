import { setTimeout as delay } from 'node:timers/promises'
import { type Cluster, clusterMissing, daprNamespace, startCluster } from '@orderflow/cluster'
import { buildTimeoutMs, type Installation, prepareInstallation } from '@orderflow/cluster/installation'
import { startServers } from '@orderflow/cluster/servers'
import type { Order } from '@orderflow/order-service/order'
import { send } from '@orderflow/service-kit/testing'
import { services } from '@orderflow/stack'
import { CliError, eventually } from '@orderflow/stack/base'
import { type Findings, mebibytes, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { median, percentile } from '../report/statistics.ts'
import { placeOrders } from '../support/load.ts'

const ordersPerSecond = 100
const modes = ['native', 'injected'] as const
type Mode = (typeof modes)[number]

/** The use of a container, or of all containers of Dapr's control plane. */
interface Use {
  idleBytes: number
  /** The largest amount under load. */
  loadBytes: number
  /** Thousandths of a core under load. */
  millicores: number
}

interface Round {
  mode: Mode
  /** Seconds in which all pods were replaced. */
  restartSeconds: number
  /** Milliseconds from the answer to an order until the order is paid, for single orders under load. */
  paidMs: number[]
  uses: Map<string, Use>
}

/** Measures what pods need, and compares native with injected sidecars. The requests and limits of the chart follow from it. */
export const pods: Part = {
  title: `the services on Kubernetes with native and with injected sidecars, ${ordersPerSecond} orders per second`,

  async measure({ quick, tell }) {
    const missing = await clusterMissing()
    if (missing) throw new CliError('tools-missing', missing)
    const cluster = await startCluster({ dapr: true, networkPolicies: true, onProgress: tell, waitMs: buildTimeoutMs })
    try {
      const servers = await startServers(cluster, 'postgresql')
      const shop = await prepareInstallation(cluster, servers)
      const rounds: Round[] = []
      for (let number = 0; number < (quick ? 1 : 2); number += 1) {
        for (const mode of modes) {
          tell(`round ${number + 1}: ${mode} sidecars`)
          rounds.push(await measureRound(cluster, shop, mode, quick ? 5 : 60))
        }
      }
      return findings(rounds)
    } finally {
      await cluster.stop()
    }
  },
}

async function measureRound(cluster: Cluster, shop: Installation, mode: Mode, seconds: number): Promise<Round> {
  await shop.apply(`sidecar=${mode}`)
  const begun = performance.now()
  const deployments = services.map(({ name }) => `deployment/${name}`)
  await shop.kubectl('rollout', 'restart', 'deployment')
  for (const deployment of deployments) await shop.kubectl('rollout', 'status', deployment, '--timeout=180s')
  const restartSeconds = (performance.now() - begun) / 1_000
  const ordersUrl = `${shop.urlOf('order-service')}/v1/orders`
  await placeOrders(ordersUrl, ordersPerSecond, 1)
  await delay(seconds * 500)
  const idle = await readUse(cluster, shop.namespace)

  const before = await readUse(cluster, shop.namespace)
  const paidMs: number[] = []
  const peaks = new Map<string, number>()
  let isOver = false
  const load = placeOrders(ordersUrl, ordersPerSecond, seconds).finally(() => {
    isOver = true
  })
  let last = before
  while (!isOver) {
    paidMs.push(await timeToPaid(ordersUrl))
    last = await readUse(cluster, shop.namespace)
    for (const [name, { bytes }] of last) peaks.set(name, Math.max(peaks.get(name) ?? 0, bytes))
    await delay(500)
  }
  const failed = (await load).filter(({ status }) => status !== 201).length
  if (failed > 0) throw new Error(`order-service refused ${failed} orders`)
  const uses = [...last].flatMap(([name, after]): [string, Use][] => {
    const from = before.get(name)
    const atRest = idle.get(name)
    if (!from || !atRest) return []
    // The kubelet reads the counters of containers at different times.
    const millicores = ((after.coreSeconds - from.coreSeconds) / ((after.at - from.at) / 1_000)) * 1_000
    return [[name, { idleBytes: atRest.bytes, loadBytes: peaks.get(name) ?? 0, millicores }]]
  })
  return { mode, restartSeconds, paidMs, uses: new Map(uses) }
}

async function timeToPaid(url: string): Promise<number> {
  const [placed] = await placeOrders(url, 1, 1)
  if (!placed?.id) throw new Error(`order-service answered with status ${placed?.status}`)
  const isPaid = async () => (await send<Order>(`${url}/${placed.id}`)).body.status === 'Paid' || undefined
  await eventually(isPaid, `order ${placed.id} to be paid`)
  return performance.now() - placed.answered
}

interface Sample {
  bytes: number
  coreSeconds: number
  /** The time of the counters, in milliseconds since 1970. */
  at: number
}

interface Summary {
  pods: { podRef: { name: string; namespace: string }; containers?: ContainerUse[] }[]
}

interface ContainerUse {
  name: string
  memory?: { workingSetBytes?: number }
  cpu?: { time: string; usageCoreNanoSeconds?: number }
}

/** Reads the memory and the processor time of all containers from the kubelet. The containers of the control plane are added up. */
async function readUse({ kubectl }: Cluster, namespace: string): Promise<Map<string, Sample>> {
  const summary = JSON.parse(await kubectl('get', '--raw', '/api/v1/nodes/node-1/proxy/stats/summary')) as Summary
  const uses = new Map<string, Sample>()
  for (const { podRef, containers = [] } of summary.pods) {
    for (const { name, memory, cpu } of containers) {
      const service = services.find((each) => podRef.namespace === namespace && podRef.name.startsWith(each.name))
      const isControlPlane = podRef.namespace === daprNamespace
      if (!service && !isControlPlane) continue
      const what = isControlPlane ? controlPlane : name === 'daprd' ? `${service?.name}, sidecar` : name
      const sum = uses.get(what) ?? { bytes: 0, coreSeconds: 0, at: 0 }
      uses.set(what, {
        bytes: sum.bytes + (memory?.workingSetBytes ?? 0),
        coreSeconds: sum.coreSeconds + (cpu?.usageCoreNanoSeconds ?? 0) / 1e9,
        at: Date.parse(cpu?.time ?? ''),
      })
    }
  }
  return uses
}

const controlPlane = 'Dapr’s control plane'

function findings(rounds: Round[]): Findings {
  const roundsOf = (mode: Mode) => rounds.filter((round) => round.mode === mode)
  const names = [...new Set(rounds.flatMap(({ uses }) => [...uses.keys()]))].toSorted()
  const most = (mode: Mode, name: string, figure: keyof Use) =>
    percentile(
      roundsOf(mode).map(({ uses }) => uses.get(name)?.[figure] ?? 0),
      1,
    )
  return {
    tables: [
      {
        title: 'Memory in MiB, and thousandths of a core under load; the largest figures of the rounds',
        head: ['container', ...modes.flatMap((mode) => [`${mode}, idle`, `${mode}, load`, `${mode}, cores / 1,000`])],
        rows: names.map((name) => [
          name,
          ...modes.flatMap((mode) => [
            mebibytes(most(mode, name, 'idleBytes')),
            mebibytes(most(mode, name, 'loadBytes')),
            number(most(mode, name, 'millicores')),
          ]),
        ]),
      },
      {
        title: 'Medians of the rounds',
        head: ['sidecars', 'all pods replaced in s', 'order paid after ms, median', 'the longest'],
        rows: modes.map((mode) => {
          const paid = roundsOf(mode).flatMap(({ paidMs }) => paidMs)
          const restarts = roundsOf(mode).map(({ restartSeconds }) => restartSeconds)
          return [mode, number(median(restarts), 1), number(median(paid)), number(percentile(paid, 1))]
        }),
      },
    ],
    goals: [],
    figures: rounds.map((round) => ({ ...round, uses: Object.fromEntries(round.uses) })),
  }
}
