import {
  entryOf,
  type KafkaConnection,
  kafkaPasswords,
  postgresqlUri,
  securedKafka,
  sidecarUri,
  withLogin,
} from '@orderflow/stack'
import { newSecret } from '@orderflow/stack/base'
import {
  bodyOf,
  brokerHeap,
  brokerMachine,
  brokerSecurity,
  brokerSettings,
  brokerUser,
  brokerVariable,
  connectionStrings,
  makeCertificate,
} from '@orderflow/stack/internals'
import { readManifest, rolledOut } from './addons.ts'
import type { Cluster } from './cluster.ts'
import { serverImages, setupImage } from './images/names.ts'

export type ServerStore = keyof typeof stores

/** The stores, with their URIs. A URI names the server as its clients reach it. */
const stores = {
  postgresql: {
    image: serverImages.postgresql,
    uri: (host: string, password: string) => postgresqlUri(host, 5432, password),
    sidecarUri,
  },
  mongodb: {
    image: serverImages.mongo,
    uri: (host: string, password: string) =>
      `mongodb://orderflow:${password}@${host}:27017/?authSource=admin&replicaSet=rs0`,
    sidecarUri: withLogin,
  },
}

export interface Servers {
  /** The broker's address for pods. */
  brokers: string
  /** The broker's certificate as PEM. */
  certificate: string
  /** The passwords of Kafka's users, by user. */
  passwords: Readonly<Record<string, string>>
  /** Replaces the broker's certificate. Calls `trust` before and after, with the certificates as PEM that clients must then accept. */
  changeCertificate: (trust: (certificates: string) => Promise<void>) => Promise<void>
  /** Returns the connection of a user of Kafka, for this machine. */
  kafkaOf: (user: string) => KafkaConnection
  storeKind: ServerStore
  /** The store's URI for pods, with the user who has all rights. */
  storeUri: string
  /** The URIs of sidecars, by service. */
  sidecarUris: Readonly<Record<string, string>>
  /** The store's password, and the address of its Service. */
  store: { password: string; address: string }
}

type ServersCluster = Pick<Cluster, 'kubectl' | 'get' | 'applyManifest' | 'loadImages'>

/** The address of Kafka's Service, from the range that Kubernetes keeps for fixed addresses. */
const kafkaAddress = '10.96.0.92'
export const kafkaHostAddress: string = `${kafkaAddress}:9092`

const hostOf = (name: string, namespace: string) => `${name}.${namespace}.svc.cluster.local`

/** Returns the broker's address for pods. */
export const brokersIn = (namespace: string): string => `${hostOf('kafka', namespace)}:19092`

export const defaultNamespace = 'default'

/**
 * Starts Kafka and a store with the users, rights and topics of services.json. Waits until both are ready. Servers that run already keep their
 * credentials and data.
 */
export async function startServers(
  cluster: ServersCluster,
  store: ServerStore,
  namespace: string = defaultNamespace,
): Promise<Servers> {
  await cluster.loadImages([serverImages.kafka, stores[store].image, setupImage])
  const brokers = brokersIn(namespace)
  const names = ['kafka', `kafka.${namespace}`, `kafka.${namespace}.svc`, hostOf('kafka', namespace), kafkaAddress]
  const credentials = (await readCredentials(cluster, namespace)) ?? (await createCredentials(names))
  const { passwords, brokerPassword, password, sidecarPasswords } = credentials
  let { certificate, key } = credentials
  const storeUri = stores[store].uri(hostOf(store, namespace), password)
  const sidecarUris = Object.fromEntries(
    Object.entries(sidecarPasswords).map(([name, own]) => [name, stores[store].sidecarUri(storeUri, name, own)]),
  )
  const secret = (name: string, stringData: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  })
  const brokerSecret = () => {
    const secrets = { password: brokerPassword, certificate: bodyOf(certificate), key: bodyOf(key) }
    return secret('kafka', brokerEnvironment(brokers, secrets))
  }
  await cluster.applyManifest([
    secret(credentialsSecret, { [credentialsSecret]: JSON.stringify(credentials) }),
    brokerSecret(),
    secret('setup', setupEnvironment(brokerPassword, passwords, { storeUri, sidecarUris })),
    secret('store', { password }),
  ])
  const image = serverImages.kafka
  await cluster.applyManifest(readManifest(store, { namespace, image: stores[store].image }))
  await cluster.applyManifest(readManifest('kafka', { namespace, image, setupImage, address: kafkaAddress }))
  await rolledOut(cluster, namespace, `statefulset/${store}`, 'statefulset/kafka')
  const { spec } = await cluster.get<{ spec: { clusterIP: string } }>('service', store, `--namespace=${namespace}`)
  return {
    brokers,
    get certificate() {
      return certificate
    },
    passwords,
    async changeCertificate(trust) {
      const next = await makeCertificate(names)
      await trust(`${certificate}\n${next.certificate}`)
      ;({ certificate, key } = next)
      await cluster.applyManifest([brokerSecret()])
      await cluster.kubectl('delete', 'pod', 'kafka-0', `--namespace=${namespace}`)
      await rolledOut(cluster, namespace, 'statefulset/kafka')
      await trust(certificate)
    },
    kafkaOf: (username) =>
      securedKafka(kafkaHostAddress, { username, password: passwords[username] ?? '' }, certificate),
    storeKind: store,
    storeUri,
    sidecarUris,
    store: { password, address: spec.clusterIP },
  }
}

interface Credentials {
  certificate: string
  key: string
  passwords: Record<string, string>
  brokerPassword: string
  /** The store's password. */
  password: string
  /** The passwords of the sidecars' users in the store, by service. */
  sidecarPasswords: Record<string, string>
}

/** The Secret with the credentials of the first start, and its only key. */
const credentialsSecret = 'credentials'

async function readCredentials({ kubectl }: ServersCluster, namespace: string): Promise<Credentials | undefined> {
  const output = `--output=jsonpath={.data.${credentialsSecret}}`
  const encoded = await kubectl(
    'get',
    'secret',
    credentialsSecret,
    `--namespace=${namespace}`,
    output,
    '--ignore-not-found',
  )
  return encoded ? (JSON.parse(Buffer.from(encoded, 'base64').toString()) as Credentials) : undefined
}

async function createCredentials(names: string[]): Promise<Credentials> {
  const passwords = Object.fromEntries(Object.keys(kafkaPasswords).map((user) => [user, newSecret()]))
  const sidecarPasswords = Object.fromEntries(Object.keys(connectionStrings).map((service) => [service, newSecret()]))
  const certificate = await makeCertificate(names)
  return { ...certificate, passwords, brokerPassword: newSecret(), password: newSecret(), sidecarPasswords }
}

/** Returns the variables of Kafka's image, with the settings of docker-compose.yml. */
function brokerEnvironment(brokers: string, secrets: Parameters<typeof brokerSecurity>[1]): Record<string, string> {
  const [broker, controller] = ['localhost:9094', 'localhost:9093']
  const security = brokerSecurity({ clients: { INSIDE: ':19092', HOST: ':9092' }, broker, controller }, secrets)
  const settings = { ...brokerSettings, ...security }
  return {
    CLUSTER_ID: 'b3JkZXJmbG93LWthZmthLQ',
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_CONTROLLER_QUORUM_VOTERS: `1@${controller}`,
    KAFKA_ADVERTISED_LISTENERS: `INSIDE://${brokers},HOST://${kafkaHostAddress},BROKER://${broker}`,
    KAFKA_LOG_DIRS: '/var/lib/kafka/data',
    KAFKA_HEAP_OPTS: brokerHeap,
    KAFKA_JVM_PERFORMANCE_OPTS: brokerMachine.join(' '),
    ...Object.fromEntries(Object.entries(settings).map(([name, value]) => [brokerVariable(name), String(value)])),
  }
}

/** Returns the variables of the program setup, as in docker-compose.yml. */
function setupEnvironment(
  brokerPassword: string,
  passwords: Record<string, string>,
  { storeUri, sidecarUris }: Pick<Servers, 'storeUri' | 'sidecarUris'>,
) {
  return {
    State__ConnectionString: storeUri,
    ...Object.fromEntries(
      Object.entries(connectionStrings).map(([service, variable]) => [variable, entryOf(sidecarUris, service)]),
    ),
    Stream__Brokers: 'localhost:9094',
    Stream__AuthType: 'password',
    Stream__SaslMechanism: 'PLAINTEXT',
    Stream__SaslUsername: brokerUser,
    Stream__SaslPassword: brokerPassword,
    Stream__DisableTls: 'true',
    ...Object.fromEntries(Object.entries(kafkaPasswords).map(([user, variable]) => [variable, passwords[user] ?? ''])),
  }
}
