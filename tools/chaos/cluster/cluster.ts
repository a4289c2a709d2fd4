import { rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  brokerNames,
  brokerPorts,
  entryOf,
  freePorts,
  groupMissing,
  type KafkaConnection,
  kafkaMissing,
  ofServices,
  sidecarOf,
  storedServices,
} from '@orderflow/stack'
import {
  brokersMissing,
  createPlan,
  dataFolder,
  denyTransactions,
  ensureTopics,
  groupEnds,
  kafkaOf,
  type Plan,
  type ProcessSpec,
  prepareKafka,
  processSpecs,
  processState,
  readProcessTable,
  type Servers,
  serviceMissing,
  signalGroup,
  startProcess,
  waitUntil,
} from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { type Clocks, findClocks } from './clocks.ts'
import { createNetwork, type Network } from './network.ts'
import { createStore, type Store } from './store.ts'

/** The name of a process. Names of services and sidecars that end in `-2` are second replicas. */
export type Member = string

/** A stack whose processes can be controlled one by one, with one or two replicas of each service. */
export interface Cluster {
  folder: string
  members: Member[]
  kafka: KafkaConnection
  store: Store
  /** The connections of each replica to Kafka and the store. */
  network: Network
  urls: Record<string, string[]>
  start(member: Member): void
  /** Sends a signal to a running process. If the signal ends the process, waits for this end. */
  signal(member: Member, signal: NodeJS.Signals): Promise<void>
  end(member: Member): Promise<void>
  ended(): Map<Member, string>
  ready(): Promise<void>
  serversReady(): Promise<void>
  /** Waits until each broker has all records of its partitions. */
  replicated(): Promise<void>
  /** Deletes the log of a broker that does not run. Prepares the broker to start with an empty one. */
  loseDisk(broker: Member): Promise<void>
  /** The clocks of the services; undefined if this machine cannot set them. */
  clocks: Clocks | undefined
}

const goneTimeoutMs = 30_000
const readyTimeoutMs = 120_000
const ending: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT']
const serverNames: readonly Member[] = [...brokerNames({ brokers: 3 }), 'postgresql']
export const isServer = (member: Member) => serverNames.includes(member)

export interface ClusterOptions extends Servers {
  /** The number of replicas of each service, 1 or 2. */
  replicas: number
  /** The time within which an order must be paid. */
  paymentWithinMs: number
}

/** Starts a cluster in a claimed folder, with the store in `state/` and the logs of Kafka in `data/`. */
export async function startCluster(folder: string, options: ClusterOptions): Promise<Cluster> {
  const { replicas, paymentWithinMs, ...servers } = options
  const ports = await freePorts()
  const store = createStore(servers.store, join(folder, 'state'), ports.postgresql)
  const plan = await createPlan(folder, ports, servers)
  const brokers = brokerNames(plan)
  const plans = [plan]
  if (replicas > 1) {
    const { kafka, moreBrokers } = ports
    plans.push({ ...plan, ports: { ...(await freePorts()), kafka, moreBrokers } })
  }
  const names = plans.flatMap((_, index) => storedServices.map(({ name }) => replicaName(name, index)))
  const portsOfBrokers = Object.fromEntries(brokers.map((name) => [name, brokerPorts(ports, name)]))
  const network = await createNetwork(names, portsOfBrokers, store.server?.address)

  const clocks = findClocks(folder)
  const settings = { 'order-service': { Orders__PaymentWithin: String(paymentWithinMs / 60_000) } }
  const envOf = (name: string, replica: Member) => ({
    ...settings[name as keyof typeof settings],
    ...clocks?.env(replica),
  })
  const specs = new Map([
    ...brokers.map((name) => [name, brokerSpec(plan, name, network)] as const),
    ...(store.server ? [['postgresql', store.server.spec] as const] : []),
    ...plans.flatMap((each, index) => replicaSpecs(each, index, store, network, envOf)),
  ])
  const members = [...specs.keys()]
  const kafka = kafkaOf(plan)
  const specOf = (member: Member) => specs.get(member) as ProcessSpec

  const wait = (what: Member, probe: () => Promise<string | undefined>) =>
    waitUntil(what, { folder, processes: [], timeoutMs: readyTimeoutMs }, probe)
  const storeMissing = () =>
    store.answers().then(
      () => undefined,
      (error: Error) => error.message,
    )
  async function serversReady(): Promise<void> {
    await Promise.all([wait('kafka', () => kafkaMissing(kafka)), wait('store', storeMissing)])
  }
  const replicated = () => wait('kafka', () => brokersMissing(kafka, brokers.length))
  async function ready(): Promise<void> {
    await serversReady()
    const listening = storedServices.flatMap(({ name }) => members.filter((member) => isReplicaOf(member, name)))
    await Promise.all([
      ...listening.map((member) => wait(member, () => serviceMissing(member, specOf(member).ports.http as number))),
      ...storedServices.map((service) => wait(sidecarOf(service), () => groupMissing(kafka, service.name, new Set()))),
    ])
  }

  async function signal(member: Member, name: NodeJS.Signals): Promise<void> {
    const state = processState(folder, member)
    if (state.state !== 'running') return
    signalGroup(state.group, name)
    if (!ending.includes(name)) return
    if (!(await groupEnds(state.group, goneTimeoutMs))) throw new Error(`${member} did not end after ${name}`)
  }

  const cluster: Cluster = {
    folder,
    members,
    kafka,
    store,
    network,
    urls: ofServices(({ name }) => plans.map((each) => urlOf(each, name))),
    start: (member) => void startProcess(folder, specOf(member)),
    signal,
    // After SIGTERM, PostgreSQL waits until its last client disconnects.
    end: (member) => signal(member, member === 'postgresql' ? 'SIGINT' : 'SIGTERM'),
    ended() {
      const table = readProcessTable()
      const states = members.map((member) => [member, processState(folder, member, table)] as const)
      return new Map(states.flatMap(([member, state]) => (state.state === 'crashed' ? [[member, state.exit]] : [])))
    },
    ready,
    serversReady,
    replicated,
    async loseDisk(broker) {
      rmSync(join(dataFolder(folder), broker), { recursive: true })
      await prepareKafka(plan, broker)
    },
    clocks,
  }
  const prepareBrokers = async () => {
    for (const name of brokers) await prepareKafka(plan, name)
  }
  await Promise.all([prepareBrokers(), store.prepare(), network.start(folder)])
  members.filter(isServer).forEach(cluster.start)
  await serversReady()
  await replicated()
  await denyTransactions(kafka)
  await ensureTopics(kafka, topics.processes)
  for (const member of members.filter((name) => !isServer(name))) cluster.start(member)
  await ready()
  return cluster
}

const replicaName = (name: string, index: number): Member => (index === 0 ? name : `${name}-2`)

/** Returns true if a member is a replica of the process with this name. */
export const isReplicaOf = (member: Member, name: string) => member.replace(/-2$/, '') === name

const urlOf = (plan: Plan, service: string) => `http://127.0.0.1:${entryOf(plan.ports.services, service).http}`

function brokerSpec(plan: Plan, name: Member, { brokerSettings }: Network): ProcessSpec {
  const spec = entryOf(processSpecs(plan), name)
  const settings = Object.entries(brokerSettings(name)).flatMap(([name, value]) => ['--override', `${name}=${value}`])
  return { ...spec, args: [...spec.args, ...settings] }
}

/**
 * Returns the specs of a replica’s processes, which use a network of their own.
 * @param envOf returns further variables of a service’s replica
 */
function replicaSpecs(
  plan: Plan,
  index: number,
  store: Store,
  network: Network,
  envOf: (service: string, replica: Member) => Record<string, string>,
): [Member, ProcessSpec][] {
  const specs = processSpecs(plan)
  return storedServices.flatMap((service) => {
    const replica = replicaName(service.name, index)
    const stream = { Stream__Brokers: network.kafkaOf(replica) }
    const state = { State__ConnectionString: store.connectionString(service.name, network.storeOf(replica)) }
    const [own, sidecar] = [entryOf(specs, service.name), entryOf(specs, sidecarOf(service))]
    return [
      { ...own, name: replica, env: { ...own.env, ...stream, ...envOf(service.name, replica) } },
      { ...sidecar, name: replicaName(sidecar.name, index), env: { ...sidecar.env, ...stream, ...state } },
    ].map((spec): [Member, ProcessSpec] => [spec.name, spec])
  })
}
