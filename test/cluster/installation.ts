import { join } from 'node:path'
import { entryOf, kafkaPasswords, newSecret, operatorUser, repository, serviceImage, services } from '@orderflow/cli'
import { type Cluster, hostAddress } from '@orderflow/cluster'
import type { Servers } from '@orderflow/cluster/servers'

/** An installation of the chart in a namespace of its own, with PostgreSQL as the store. */
export interface Installation {
  namespace: string
  /** Installs or changes the release, and waits until it is ready. */
  apply: (...values: string[]) => Promise<void>
  /** Returns the address of a service for this machine. */
  urlOf: (service: string) => string
  kubectl: Cluster['kubectl']
  get: Cluster['get']
}

const release = 'orderflow'
const chart = join(repository, 'chart')

export async function prepareInstallation(cluster: Cluster, servers: Servers): Promise<Installation> {
  const namespace = 'shop'
  const inNamespace = ['--namespace', namespace]
  await cluster.loadImages([...services.map(({ name }) => serviceImage(name)), serviceImage('setup')])
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
    'store=postgresql',
    `kafka.brokers=${servers.brokers}`,
    'kafka.ca.name=kafka-ca',
    // Callers of the tests have no keys, and send more requests than a person.
    'settings.Auth__Mode=open',
    'settings.Limits__AddressPerMinute=0',
  ]
  // Lets this machine call the services. On other nodes, its connections have the address of the first node.
  const machines = hostAddress.replace(/\d+$/, '0/24')
  const clients = JSON.stringify([{ podSelector: {} }, { ipBlock: { cidr: machines } }])
  const addresses = new Map<string, string>()
  return {
    namespace,
    async apply(...changes) {
      const set = [
        ...[...values, ...changes].flatMap((value) => ['--set-string', value]),
        ...['--set-json', `network.clients=${clients}`],
      ]
      await cluster.helm('upgrade', '--install', release, chart, ...inNamespace, ...set, '--wait', '--timeout', '4m')
      for (const { name, http } of services) {
        const { spec } = await cluster.get<{ spec: { clusterIP: string } }>('service', name, ...inNamespace)
        addresses.set(name, `http://${spec.clusterIP}:${http}`)
      }
    },
    urlOf: (service) => addresses.get(service) ?? '',
    kubectl: (...args) => cluster.kubectl(...args, ...inNamespace),
    get: (...args) => cluster.get(...args, ...inNamespace),
  }
}

/** Returns the Secrets of docs/kubernetes.md, by name. */
function secretsOf({ passwords, certificate, storeUri }: Servers): [name: string, data: Record<string, string>][] {
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
        State__ConnectionString: storeUri,
        Trust__SigningKeys: signingKeys,
      },
    ]),
  ]
}
