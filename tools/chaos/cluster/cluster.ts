import { join } from 'node:path'
import {
  createPlan,
  denyTransactions,
  ensureTopics,
  entryOf,
  freePorts,
  groupEnds,
  groupMissing,
  type KafkaConnection,
  kafkaMissing,
  type LocalStore,
  localKafka,
  ofServices,
  type Plan,
  type ProcessSpec,
  prepareKafka,
  processSpecs,
  processState,
  readProcessTable,
  serviceMissing,
  sidecarOf,
  signalGroup,
  startProcess,
  storedServices,
  topics,
  waitUntil,
} from '@orderflow/cli'
import { createNetwork, type Network } from './network.ts'
import { createStore, type Store } from './store.ts'

/** A process of the cluster; those that end in `-2` are of second replicas. */
export type Member = string

/** A stack of which every process can be started and ended alone, each service with its sidecar once or twice. */
export interface Cluster {
  folder: string
  members: Member[]
  kafka: KafkaConnection
  store: Store
  /** What each replica reaches Kafka and the store by. */
  network: Network
  /** Of each replica, by service. */
  urls: Record<string, string[]>
  start(member: Member): void
  /** Signals a process that runs; returns when it is gone if the signal ends it. One that is gone already is fine. */
  signal(member: Member, signal: NodeJS.Signals): Promise<void>
  /** Has a process end in order, and waits until it is gone. */
  end(member: Member): Promise<void>
  /** Those that do not run, and how they ended. */
  ended(): Map<Member, string>
  /** Waits until all answer and consume. */
  ready(): Promise<void>
  /** Waits until broker and store answer. */
  serversReady(): Promise<void>
}

const goneTimeoutMs = 30_000
const readyTimeoutMs = 120_000
const ending: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGTERM', 'SIGINT']
/** Others need them. */
const serverNames: readonly Member[] = ['kafka', 'postgresql']
export const isServer = (member: Member) => serverNames.includes(member)

/**
 * Starts a cluster in a folder that the caller has claimed. What the store has is in `state/`, Kafka's log in `data/`.
 * @param replicas of each service with its sidecar, 1 or 2; the second ones share app-id and store with the first
 */
export async function startCluster(folder: string, replicas: number, storeKind: LocalStore): Promise<Cluster> {
  const ports = await freePorts()
  const store = createStore(storeKind, join(folder, 'state'), ports.postgresql)
  const plan = await createPlan(folder, ports, storeKind)
  const plans = [plan]
  if (replicas > 1) plans.push({ ...plan, ports: { ...(await freePorts()), kafka: ports.kafka } })
  const names = plans.flatMap((_, index) => storedServices.map(({ name }) => replicaName(name, index)))
  const network = await createNetwork(names, ports, store.server?.address)

  const specs = new Map([
    ['kafka', brokerSpec(plan, network)],
    ...(store.server ? [['postgresql', store.server.spec] as const] : []),
    ...plans.flatMap((each, index) => replicaSpecs(each, index, store, network)),
  ])
  const members = [...specs.keys()]
  const kafka = localKafka(ports.kafka)
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
    if (!(await groupEnds(state.group, goneTimeoutMs))) throw new Error(`${member} survives ${name}`)
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
    // To PostgreSQL SIGTERM means to wait until its last client has gone.
    end: (member) => signal(member, member === 'postgresql' ? 'SIGINT' : 'SIGTERM'),
    ended() {
      const table = readProcessTable()
      const states = members.map((member) => [member, processState(folder, member, table)] as const)
      return new Map(states.flatMap(([member, state]) => (state.state === 'crashed' ? [[member, state.exit]] : [])))
    },
    ready,
    serversReady,
  }
  await Promise.all([prepareKafka(plan), store.prepare(), network.start(folder)])
  members.filter(isServer).forEach(cluster.start)
  await serversReady()
  await denyTransactions(kafka)
  await ensureTopics(kafka, topics.processes)
  for (const member of members.filter((name) => !isServer(name))) cluster.start(member)
  await ready()
  return cluster
}

const replicaName = (name: string, index: number): Member => (index === 0 ? name : `${name}-2`)

/** Whether a member is that process, or another replica of it. */
export const isReplicaOf = (member: Member, name: string) => member.replace(/-2$/, '') === name

const urlOf = (plan: Plan, service: string) => `http://127.0.0.1:${entryOf(plan.ports.services, service).http}`

function brokerSpec(plan: Plan, { brokerSettings }: Network): ProcessSpec {
  const spec = entryOf(processSpecs(plan), 'kafka')
  const settings = Object.entries(brokerSettings).flatMap(([name, value]) => ['--override', `${name}=${value}`])
  return { ...spec, args: [...spec.args, ...settings] }
}

/** Of the second replicas the processes have other names. Each reaches the servers by way of its own network. */
function replicaSpecs(plan: Plan, index: number, store: Store, network: Network): [Member, ProcessSpec][] {
  const specs = processSpecs(plan)
  return storedServices.flatMap((service) => {
    const replica = replicaName(service.name, index)
    const stream = { Stream__Brokers: network.kafkaOf(replica) }
    const state = { State__ConnectionString: store.connectionString(service.name, network.storeOf(replica)) }
    const [own, sidecar] = [entryOf(specs, service.name), entryOf(specs, sidecarOf(service))]
    return [
      { ...own, name: replica, env: { ...own.env, ...stream } },
      { ...sidecar, name: replicaName(sidecar.name, index), env: { ...sidecar.env, ...stream, ...state } },
    ].map((spec): [Member, ProcessSpec] => [spec.name, spec])
  })
}
