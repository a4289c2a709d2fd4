import { Resolver } from 'node:dns/promises'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { eventually } from '@orderflow/stack/base'
import type { Clients } from './clients.ts'
import { corednsImage, daprRegistry, kedaAdapterImage, kedaImage, networkPoliciesImage } from './images/names.ts'
import { dnsAddress, podsCidr } from './node/network.ts'
import { type Node, runInNode } from './node/node.ts'
import { clusterVersions, programFile } from './programs/programs.ts'

const timeoutMs = 120_000
const timeout = `--timeout=${timeoutMs / 1000}s`

/** Returns the text of a manifest, with values in place of `${name}`. */
export function readManifest(name: string, values: Record<string, string> = {}): string {
  const text = readFileSync(join(import.meta.dirname, 'manifests', `${name}.yaml`), 'utf8')
  return text.replaceAll(/\$\{(\w+)\}/g, (_match, key) => {
    const value = values[key]
    if (value === undefined) throw new Error(`manifests/${name}.yaml needs a value for ${key}`)
    return value
  })
}

/** Waits until each workload, such as `deployment/coredns`, has its new pods. */
export async function rolledOut(
  { kubectl }: Pick<Clients, 'kubectl'>,
  namespace: string,
  ...workloads: string[]
): Promise<void> {
  for (const workload of workloads) await kubectl('rollout', 'status', workload, '--namespace', namespace, timeout)
}

/** Starts the DNS server, and waits until this machine gets an answer from its Service. */
export async function startDns(clients: Clients): Promise<void> {
  await clients.applyManifest(readManifest('coredns', { image: corednsImage, address: dnsAddress }))
  await rolledOut(clients, 'kube-system', 'deployment/coredns')
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([dnsAddress])
  const name = 'kubernetes.default.svc.cluster.local'
  await eventually(() => resolver.resolve4(name).catch(() => undefined), `the address of ${name}`, timeoutMs)
}

/** The queue of the kernel from which the program for network policies reads. */
const queue = '100'

/**
 * Starts the program that decides about connections of pods.
 *
 * The program also writes rules of nftables for its queue, which fails if the kernel lacks nft_queue. The rules of iptables have the same effect. They
 * pass each new connection of a pod to the queue, unless the node opened the connection, for example for a probe.
 */
export async function startNetworkPolicies(clients: Clients, nodes: readonly Node[]): Promise<void> {
  await clients.applyManifest(readManifest('network-policies', { image: networkPoliciesImage, queue }))
  await rolledOut(clients, 'kube-system', 'daemonset/kube-network-policies')
  for (const node of nodes) await enforcePolicies(node)
}

export async function enforcePolicies(node: Node): Promise<void> {
  const rule = 'iptables --wait --table mangle --append POSTROUTING'
  const lines = [
    `${rule} --match conntrack --ctstate ESTABLISHED,RELATED --jump ACCEPT`,
    `${rule} --match addrtype --src-type LOCAL --jump ACCEPT`,
    `${rule} --source ${podsCidr} --jump NFQUEUE --queue-num ${queue}`,
    `${rule} --destination ${podsCidr} --jump NFQUEUE --queue-num ${queue}`,
  ]
  await runInNode(node, lines)
}

export const daprNamespace = 'dapr-system'

/** Installs Dapr with its chart. Waits until a new pod gets a sidecar, which is later than the injector is ready. */
export async function startDapr(clients: Clients): Promise<void> {
  const settings = {
    'global.registry': daprRegistry,
    'global.tag': clusterVersions.dapr,
    // Volumes of this cluster belong to root, and the scheduler runs without root.
    'dapr_scheduler.cluster.inMemoryStorage': true,
    // Otherwise the Pod Security Standard "restricted" refuses pods with sidecars.
    'dapr_sidecar_injector.sidecarDropALLCapabilities': true,
  }
  const values = Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const chart = programFile('dapr', 'charts/dapr')
  const place = ['--namespace', daprNamespace, '--create-namespace']
  // biome-ignore lint/plugin/no-spread-arguments: some ten arguments
  await clients.helm('install', 'dapr', chart, ...place, ...values)
  const deployments = ['dapr-sentry', 'dapr-operator', 'dapr-sidecar-injector'].map((name) => `deployment/${name}`)
  const sets = ['dapr-placement-server', 'dapr-scheduler-server'].map((name) => `statefulset/${name}`)
  // biome-ignore lint/plugin/no-spread-arguments: five names
  await rolledOut(clients, daprNamespace, ...deployments, ...sets)
  await eventually(() => injects(clients), 'the sidecar of a new pod', timeoutMs)
  await eventually(() => converts(clients), 'the conversion of a subscription', timeoutMs)
}

async function injects({ kubectl }: Clients): Promise<boolean> {
  const annotations = ['dapr.io/enabled=true', 'dapr.io/app-id=probe'].map((pair) => `--annotations=${pair}`)
  // biome-ignore lint/plugin/no-spread-arguments: two annotations
  const pod = await kubectl('run', 'probe', '--image=probe', '--dry-run=server', '--output=json', ...annotations)
  return pod.includes('"name": "daprd"')
}

/** Returns true if the operator converts a subscription of an older version. */
async function converts(clients: Clients): Promise<boolean> {
  const subscription = {
    apiVersion: 'dapr.io/v1alpha1',
    kind: 'Subscription',
    metadata: { name: 'probe', namespace: 'default' },
    spec: { pubsubname: 'probe', topic: 'probe', route: '/' },
  }
  return clients.applyManifest([subscription], '--dry-run=server').then(
    () => true,
    () => false,
  )
}

/** Installs KEDA with the manifests of its module, without webhooks. Waits until the API server gets metrics from KEDA. */
export async function startKeda(clients: Clients, folder: string): Promise<void> {
  const overlay = join(folder, 'keda')
  mkdirSync(overlay)
  const container = (name: string, image: string) => ({ name, image, imagePullPolicy: 'IfNotPresent' })
  const patches = [
    deployment('keda-operator', container('keda-operator', kedaImage)),
    deployment('keda-metrics-apiserver', container('keda-metrics-apiserver', kedaAdapterImage)),
  ]
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [relative(overlay, programFile('keda', 'config/minimal'))],
    patches: patches.map((patch) => ({ patch: JSON.stringify(patch) })),
  }
  writeFileSync(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization))
  await clients.applyManifest(await clients.kubectl('kustomize', overlay))
  await rolledOut(clients, 'keda', 'deployment/keda-operator', 'deployment/keda-metrics-apiserver')
  const service = 'apiservice/v1beta1.external.metrics.k8s.io'
  await clients.kubectl('wait', '--for=condition=Available', service, timeout)
}

const deployment = (name: string, container: { name: string }) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'keda' },
  // The probes of KEDA's manifests wait for 20 seconds before they begin.
  spec: {
    template: {
      spec: { containers: [{ ...container, readinessProbe: { initialDelaySeconds: 1, periodSeconds: 1 } }] },
    },
  },
})
