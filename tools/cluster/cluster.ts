import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError, eventually, poll } from '@orderflow/stack/base'
import { type ProvisionOptions, readProcessTable } from '@orderflow/stack/internals'
import { enforcePolicies, readManifest, startDapr, startDns, startKeda, startNetworkPolicies } from './addons.ts'
import { type Clients, createClients } from './clients.ts'
import { ensureArchives } from './images/archives.ts'
import {
  corednsImage,
  imagesOfDapr,
  kedaAdapterImage,
  kedaImage,
  networkPoliciesImage,
  pauseImage,
} from './images/names.ts'
import { writeCertificates } from './node/certificates.ts'
import { cgroupName, controlPlane, writeNodeConfiguration } from './node/configuration.ts'
import { ctr, importImages } from './node/containerd.ts'
import { connectHost, connectNode, kubernetesAddress, networkOf } from './node/network.ts'
import {
  allMountPoints,
  firstProcess,
  type Node,
  prepareNode,
  startInNode,
  startNamespaces,
  tail,
} from './node/node.ts'
import { ensurePrograms, type KubernetesPart, type ProgramName, programFile } from './programs/programs.ts'
import { ensureRequirements } from './programs/requirements.ts'
import { claimCluster, type RunRecord, updateRecord } from './run-record.ts'
import { cgroupRoots, runFolder, stopRun } from './stop.ts'

export { daprNamespace, rolledOut } from './addons.ts'
export type { Clients } from './clients.ts'
export { hostAddress, podsCidr, serviceCidr } from './node/network.ts'
export { clientFolders } from './programs/programs.ts'
export { clusterMissing } from './programs/requirements.ts'
export { stopCluster } from './stop.ts'

export interface ClusterOptions extends ProvisionOptions {
  dapr?: boolean
  keda?: boolean
  /** True to enforce network policies. The network of pods alone ignores them. */
  networkPolicies?: boolean
  /** The longest wait for another run's cluster, in milliseconds. */
  waitMs?: number
  /** True if the cluster continues after this process. */
  isDetached?: boolean
}

type Part = KubernetesPart | 'containerd'

export interface Cluster extends Clients {
  /** The folder of the run's files. The logs stay there after a run. */
  folder: string
  /** Loads images into all nodes. Builds images that are missing or outdated, our own ones from this repository, unless `sources` is another folder. */
  loadImages: (names: string[], sources?: string) => Promise<void>
  /** Lets the nodes pull images from a registry, such as `10.0.0.1:5000`, whose certificate is in a PEM file. */
  trustRegistry: (registry: string, certificateFile: string) => void
  /** Adds a node, and returns its name when it is ready. */
  addNode: () => Promise<string>
  /** Sends a signal to a program of the cluster, such as SIGSTOP to kube-apiserver. Programs of a node need its name. */
  signal: (program: Part, signal: NodeJS.Signals, node?: string) => void
  /** Returns the first process of a container, as a pid of this machine. The kubelet restarts a killed container. */
  processOf: (pod: string, container: string, namespace?: string) => Promise<number>
  stop: () => Promise<void>
}

const firstNode = 'node-1'
const timeoutMs = 120_000

/**
 * Starts Kubernetes on this machine. Waits until nodes and DNS are ready, and the optional parts work.
 * @throws {CliError} `tools-missing` if this machine cannot run a cluster, `busy` if another run's cluster exists
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { onProgress, signal, waitMs = 0 } = options
  await ensureRequirements(options)
  const record = await claimCluster(runFolder, { timeoutMs: waitMs, onProgress, signal, cleanUp: stopRun })
  try {
    await ensurePrograms(programsFor(options), options)
    return await start(record, imagesFor(options), options)
  } catch (error) {
    await stopRun(record)
    throw error
  }
}

const programsFor = ({ dapr, keda, networkPolicies }: ClusterOptions): ProgramName[] => [
  'pause',
  'hyperkube',
  'coredns',
  'helm',
  ...(networkPolicies ? (['networkPolicies'] as const) : []),
  ...(dapr ? (['dapr'] as const) : []),
  ...(keda ? (['keda'] as const) : []),
]

const imagesFor = ({ dapr, keda, networkPolicies }: ClusterOptions) => [
  pauseImage,
  corednsImage,
  ...(networkPolicies ? [networkPoliciesImage] : []),
  ...(dapr ? imagesOfDapr : []),
  ...(keda ? [kedaImage, kedaAdapterImage] : []),
]

async function start(record: RunRecord, images: string[], options: ClusterOptions): Promise<Cluster> {
  const { onProgress } = options
  const { folder } = record
  const data = join(folder, 'data')
  const logs = join(folder, 'logs')
  rmSync(folder, { recursive: true, force: true })
  for (const each of [data, logs]) mkdirSync(each, { recursive: true })
  await ensureArchives(images, options)
  createMountPoints(record)

  const { address } = networkOf(1)
  const certificates = await writeCertificates(join(data, 'certificates'), {
    server: address,
    service: kubernetesAddress,
  })
  const kubeconfig = join(data, 'kubeconfig')
  copyFileSync(certificates.admin, kubeconfig)
  const clients = createClients(data, kubeconfig)
  const nodes: Node[] = []
  const pids = new Map<string, number>()
  const loaded = new Set<string>()

  const startProgram = async (node: Node, program: Part, command: string[]) => {
    pids.set(`${node.name}/${program}`, await startInNode(node, program, command))
  }

  async function createNode(): Promise<Node> {
    const number = nodes.length + 1
    const name = `node-${number}`
    const pid = await startNamespaces(join(logs, `${name}.log`), nodes[0]?.pid)
    if (!record.init) {
      record.init = processId(pid)
      updateRecord(record)
    }
    const node: Node = { name, pid, ...networkOf(number), folder: join(data, name), logs }
    for (const cgroup of cgroupRoots()) mkdirSync(join(cgroup, cgroupName, name), { recursive: true })
    await prepareNode(node, join(data, 'volumes'))
    if (nodes.length === 0) await connectHost(node)
    else await connectNode(node, nodes)
    nodes.push(node)
    return node
  }

  async function startNode(node: Node): Promise<void> {
    const files = await certificates.node(node.name, node.address)
    const { containerd, kubelet, proxy } = writeNodeConfiguration(node, certificates, files)
    await startProgram(node, 'containerd', ['/usr/bin/containerd', '--config', containerd])
    await eventually(() => succeeds(ctr(node, 'version')), `containerd of ${node.name}`, timeoutMs)
    // The kubelet starts pods at once, and a missing image would delay them.
    await importImages(node, new Set([pauseImage, ...loaded]))
    const kubeletArguments = [
      `--node-ip=${node.address}`,
      `--hostname-override=${node.name}`,
      `--kubeconfig=${files.kubeconfig}`,
    ]
    await startProgram(node, 'kubelet', [
      programFile('hyperkube', 'kubelet'),
      `--config=${kubelet}`,
      ...kubeletArguments,
    ])
    await startProgram(node, 'kube-proxy', [programFile('hyperkube', 'kube-proxy'), `--config=${proxy}`])
  }

  const isReady = (node: Node) =>
    succeeds(clients.kubectl('wait', '--for=condition=Ready', `node/${node.name}`, '--timeout=1s'))

  const first = await createNode()
  const { etcd, ...others } = controlPlane(data, first, certificates)
  const program = (name: KubernetesPart) => programFile('hyperkube', name)
  await startProgram(first, 'etcd', [program('etcd'), ...etcd])
  for (const [name, args] of Object.entries(others) as [KubernetesPart, string[]][]) {
    await startProgram(first, name, [program(name), ...args])
  }
  const startingNode = startNode(first)
  startingNode.catch(() => {})
  const apiServer = () => succeeds(clients.kubectl('get', '--raw', '/readyz'))
  await waitFor(apiServer, 'the API server', join(logs, `${firstNode}-kube-apiserver.log`))
  onProgress('API server: ready')
  await startingNode
  await waitFor(() => isReady(first), firstNode, join(logs, `${firstNode}-kubelet.log`))
  onProgress(`${firstNode}: ready`)
  await clients.applyManifest(readManifest('storage-class'))
  await importImages(first, images)
  for (const image of images) loaded.add(image)
  onProgress('images: loaded')
  await startDns(clients)
  onProgress('DNS: ready')
  if (options.networkPolicies) {
    await startNetworkPolicies(clients, nodes)
    onProgress('network policies: enforced')
  }
  await Promise.all([
    options.dapr && startDapr(clients).then(() => onProgress(`Dapr: ready`)),
    options.keda && startKeda(clients, data).then(() => onProgress(`KEDA: ready`)),
  ])
  if (options.isDetached && record.init) {
    record.owner = record.init
    updateRecord(record)
  }

  async function loadImages(names: string[], sources?: string): Promise<void> {
    await ensureArchives(names, options, sources)
    for (const node of nodes) await importImages(node, names)
    for (const name of names) loaded.add(name)
  }

  return {
    ...clients,
    folder,
    loadImages,
    trustRegistry(registry, certificateFile) {
      const url = `https://${registry}`
      for (const { folder } of nodes) {
        const settings = join(folder, 'registries', registry)
        mkdirSync(settings, { recursive: true })
        writeFileSync(join(settings, 'hosts.toml'), `server = "${url}"\n[host."${url}"]\n  ca = "${certificateFile}"\n`)
      }
    },
    async addNode() {
      const node = await createNode()
      await startNode(node)
      await waitFor(() => isReady(node), node.name, join(logs, `${node.name}-kubelet.log`))
      if (options.networkPolicies) {
        await clients.kubectl('rollout', 'status', 'daemonset/kube-network-policies', '--namespace=kube-system')
        await enforcePolicies(node)
      }
      return node.name
    },
    signal(name, signal, node = firstNode) {
      const pid = pids.get(`${node}/${name}`)
      if (!pid) throw new Error(`${node} runs no ${name}`)
      process.kill(pid, signal)
    },
    async processOf(pod, container, namespace = 'default') {
      const { status } = await clients.get<Pod>('pod', pod, `--namespace=${namespace}`)
      const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])]
      const id = statuses.find(({ name }) => name === container)?.containerID?.replace('containerd://', '')
      const pid = id && firstProcess(id)
      if (!pid) throw new Error(`pod ${pod} runs no container ${container}`)
      return pid
    },
    stop: () => stopRun(record),
  }
}

interface Pod {
  status: { containerStatuses?: ContainerStatus[]; initContainerStatuses?: ContainerStatus[] }
}

interface ContainerStatus {
  name: string
  containerID?: string
}

const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  )

async function waitFor(probe: () => Promise<boolean>, what: string, log: string): Promise<void> {
  if (await poll(probe, { timeoutMs, everyMs: 100 })) return
  throw new CliError('not-ready', `${what} is not ready after ${timeoutMs / 1000} s; ${log} ends with:\n${tail(log)}`)
}

const processId = (pid: number) => ({ pid, startId: readProcessTable().get(pid)?.startId ?? '' })

function createMountPoints(record: RunRecord): void {
  for (const point of allMountPoints) {
    const missing = parentsOf(point).filter((folder) => !existsSync(folder))
    record.created = record.created.concat(missing)
    // Records the folders first, so that the end of this process leaves none behind.
    updateRecord(record)
    mkdirSync(point, { recursive: true })
  }
}

/** Returns the path and its parents, the shortest first. */
function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(1)
  return parts.map((_part, index) => `/${parts.slice(0, index + 1).join('/')}`)
}
