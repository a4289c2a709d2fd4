import { CliError } from '../base/error.ts'
import type { Runner } from '../runner.ts'
import { programMissing, readRecord, requireRecord } from './cluster.ts'
import { clean, down } from './down.ts'
import { inside, isInside, operate, reachFromInside, reachFromOutside } from './inside.ts'
import { logNames, logs } from './logs.ts'
import { readDeployments, readPods } from './pods.ts'
import { restart, scale } from './restart.ts'
import { apiKeysIn } from './secrets.ts'
import { clusterStatus, requirePods, runningServices } from './status.ts'
import { kubernetesUp } from './up.ts'
import { type KubernetesStore, namedStore, readValues, valuesFile } from './values.ts'

/** Runs the stack in the cluster of the kubeconfig. In a pod of the cluster, it only returns addresses. */
export const inKubernetes: Runner = {
  name: 'kubernetes',
  title: 'in Kubernetes',
  stores: ['mongodb', 'postgresql'],
  surroundings: 'containers',
  brokerCounts: [],
  missing: async () => (await programMissing())?.message,
  state: async () => {
    if (isInside()) return 'running'
    const record = readRecord()
    if (!record) return 'absent'
    if ((await readDeployments(record)).length > 0) return 'running'
    // The setup job of a failed installation.
    return (await readPods(record)).length > 0 ? 'stopped' : 'absent'
  },
  lastStore: () => readRecord()?.store ?? namedStore() ?? 'mongodb',
  lastBrokers: async () => undefined,
  // The store is not a part of the release.
  dataOf: async () => undefined,
  up: async ({ store, observed, rebuild, ...options }) => {
    if (observed) {
      throw new CliError('usage', 'make observe does not support STACK=kubernetes', {
        nextStep: `set monitoring.enabled: true in ${valuesFile}, then make up`,
      })
    }
    // The caller has checked that the store is one of `stores`.
    await kubernetesUp({ store: store as KubernetesStore, rebuild, ...options })
    return reachFromOutside(readValues())
  },
  down,
  clean,
  restart,
  scale,
  status: () => clusterStatus(requireRecord()),
  runningServices,
  logNames,
  logs,
  reach: () => (isInside() ? reachFromInside(process.env) : reachFromOutside(readValues())),
  requireRunning,
  requireKafka: requireRunning,
  operate,
  streamVariables: async () => undefined,
  // Read only in commands that need the keys, because kubernetes.yaml may be invalid.
  get apiKeys() {
    return apiKeysIn(requireRecord(), readValues())
  },
  inside: isInside() ? undefined : inside,
}

async function requireRunning(): Promise<void> {
  if (!isInside()) await requirePods(requireRecord())
}
