import { join } from 'node:path'
import { entryOf, kafkaPasswords, services } from '@orderflow/stack'
import { newSecret, repository } from '@orderflow/stack/base'
import { serviceImage } from '@orderflow/stack/internals'
import { images } from '@orderflow/stack/machine'
import { operatorUser } from '@orderflow/stack/operate'
import type { Cluster } from './cluster.ts'
import { hostAddress } from './node/network.ts'
import type { Servers } from './servers.ts'

/** An installation of the chart in a namespace of its own. */
export interface Installation {
  namespace: string
  /** Installs or changes the release, and waits until it is ready. */
  apply: (...values: string[]) => Promise<void>
  /** Does the same with the chart in a folder. */
  applyChart: (chart: string, ...values: string[]) => Promise<void>
  /** Returns the address of a service for this machine. */
  urlOf: (service: string) => string
  /** Returns the name of a pod of a service that is not ending. */
  podNamed: (service: string) => Promise<string>
  /** Returns the first process of a service’s container, or of its sidecar `daprd`, as a pid of this machine. */
  processOf: (service: string, container?: string) => Promise<number>
  kubectl: Cluster['kubectl']
  get: Cluster['get']
}

/** The longest time for the first build of all programs and images, in milliseconds. */
export const buildTimeoutMs = 60 * 60_000

/** The addresses from which this machine calls services. On other nodes, its connections have the address of the first node. */
const machines = hostAddress.replace(/\d+$/, '0/24')

/** Values of the chart for tests, which have no API keys, and send more requests than a person, from this machine. */
export const testValues = {
  settings: { Auth__Mode: 'open', Limits__AddressPerMinute: '0' },
  network: { clients: [{ podSelector: {} }, { ipBlock: { cidr: machines } }] },
}

/** The images of an installation, with the image of native sidecars. */
export const applicationImages = [
  ...services.map(({ name }) => serviceImage(name)),
  serviceImage('setup'),
  images.daprd,
]

/** Returns the addresses of the services of a namespace for this machine, by name. */
export async function serviceUrls({ get }: Pick<Cluster, 'get'>, namespace: string): Promise<Record<string, string>> {
  const addresses = services.map(async ({ name, http }): Promise<[string, string]> => {
    const { spec } = await get<{ spec: { clusterIP: string } }>('service', name, `--namespace=${namespace}`)
    return [name, `http://${spec.clusterIP}:${http}`]
  })
  return Object.fromEntries(await Promise.all(addresses))
}

interface Pods {
  items: { metadata: { name: string; deletionTimestamp?: string } }[]
}

const release = 'orderflow'

/** Loads the images and creates the Secrets of an installation. `apply` installs the chart. */
export async function prepareInstallation(cluster: Cluster, servers: Servers): Promise<Installation> {
  const { kubectl, get, helm } = cluster
  const namespace = 'shop'
  const inNamespace = `--namespace=${namespace}`
  await cluster.loadImages(applicationImages)
  await cluster.applyManifest([
    {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    },
    ...secretsOf(servers).map(([name, stringData]) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      stringData,
    })),
  ])
  const values = [
    `store=${servers.storeKind}`,
    `kafka.brokers=${servers.brokers}`,
    'kafka.ca.name=kafka-ca',
    ...Object.entries(testValues.settings).map(([name, value]) => `settings.${name}=${value}`),
  ]
  const clients = JSON.stringify(testValues.network.clients)
  let urls: Record<string, string> = {}
  const podNamed = async (service: string) => {
    const { items } = await get<Pods>('pods', `--selector=app.kubernetes.io/name=${service}`, inNamespace)
    const pod = items.find(({ metadata }) => metadata.deletionTimestamp === undefined)
    if (!pod) throw new Error(`no pod of ${service}`)
    return pod.metadata.name
  }
  const applyChart = async (chart: string, ...changes: string[]) => {
    // No value contains a comma, which separates values.
    const given = [`--set-string=${values.join()}`, `--set=${changes.join()}`, `--set-json=network.clients=${clients}`]
    // biome-ignore lint/plugin/no-spread-arguments: three options
    await helm('upgrade', '--install', release, chart, inNamespace, '--wait', '--timeout=4m', ...given)
    urls = await serviceUrls(cluster, namespace)
  }
  return {
    namespace,
    podNamed,
    processOf: async (service, container = service) => cluster.processOf(await podNamed(service), container, namespace),
    apply: (...changes) => applyChart(join(repository, 'chart'), ...changes),
    applyChart,
    urlOf: (service) => urls[service] ?? '',
    kubectl: (...args) => kubectl(...args, inNamespace),
    get: (...args) => get(...args, inNamespace),
  }
}

/** Returns the Secrets of docs/kubernetes.md, by name. */
function secretsOf({
  passwords,
  certificate,
  storeUri,
  sidecarUris,
}: Servers): [name: string, data: Record<string, string>][] {
  const signingKeys = newSecret()
  return [
    ['kafka-ca', { 'ca.crt': certificate }],
    [
      'operator-secrets',
      {
        Stream__SaslUsername: operatorUser,
        Stream__SaslPassword: entryOf(passwords, operatorUser),
        State__ConnectionString: storeUri,
        ...Object.fromEntries(
          Object.entries(kafkaPasswords).map(([user, variable]) => [variable, entryOf(passwords, user)]),
        ),
      },
    ],
    ...services.map(({ name }): [string, Record<string, string>] => [
      `${name}-secrets`,
      {
        APP_API_TOKEN: newSecret(),
        DAPR_API_TOKEN: newSecret(),
        DryRun__Token: newSecret(),
        Stream__SaslPassword: entryOf(passwords, name),
        ...(sidecarUris[name] && { State__ConnectionString: sidecarUris[name] }),
        Trust__SigningKeys: signingKeys,
      },
    ]),
  ]
}
