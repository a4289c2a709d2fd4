import { join } from 'node:path'
import { entryOf, freePorts, type KafkaConnection, ofServices, services, sidecarOf } from '@orderflow/stack'
import {
  createPlan,
  ensureRunning,
  groupEnds,
  groupMissing,
  kafkaMissing,
  localKafka,
  type Plan,
  type ProcessSpec,
  processSpecs,
  processState,
  readProcessTable,
  serviceMissing,
  signalGroup,
  startProcess,
  waitUntil,
} from '@orderflow/stack/parts'

/** A process of the cluster; those that end in `-2` are second replicas. */
export type Member = string

/** A stack of which every process can be started and ended alone, each service with its sidecar once or twice. */
export interface Cluster {
  folder: string
  members: Member[]
  kafka: KafkaConnection
  /** Of each replica, by service. */
  urls: Record<string, string[]>
  /** The database file of each service's store. */
  stateFiles: Record<string, string>
  start(member: Member): void
  /** Signals a process that runs; returns when it is gone if the signal ends it. One that is gone already is fine. */
  signal(member: Member, signal: NodeJS.Signals): Promise<void>
  /** Those that do not run, and how they ended. */
  ended(): Map<Member, string>
  /** Waits until all answer and consume. */
  ready(): Promise<void>
  /** Waits until the broker answers. */
  kafkaReady(): Promise<void>
}

const goneTimeoutMs = 30_000
const readyTimeoutMs = 120_000

/**
 * Starts a cluster in a folder that the caller has claimed. State is in `state/`, Kafka's log in `data/`.
 * @param replicas of each service with its sidecar, 1 or 2; the second ones share app-id and database file with the first
 */
export async function startCluster(folder: string, replicas: number): Promise<Cluster> {
  const plan = await createPlan(folder, await freePorts())
  const plans = [plan]
  await ensureRunning(plan, ['kafka'], { onProgress: () => {} })
  if (replicas > 1) plans.push({ ...plan, ports: { ...(await freePorts()), kafka: plan.ports.kafka } })

  const stateFiles = ofServices(({ role }) => join(folder, 'state', `${role}.db`))
  const specs = new Map(plans.flatMap((each, index) => specsOf(each, index, stateFiles)))
  const members = [...specs.keys()]
  const kafka = localKafka(plan.ports.kafka)
  const specOf = (member: Member) => specs.get(member) as ProcessSpec

  const wait = (what: Member, probe: () => Promise<string | undefined>) =>
    waitUntil(what, { folder, processes: [], timeoutMs: readyTimeoutMs }, probe)
  const kafkaReady = () => wait('kafka', () => kafkaMissing(kafka))
  async function ready(): Promise<void> {
    await kafkaReady()
    const listening = services.flatMap(({ name }) => members.filter((member) => isReplicaOf(member, name)))
    await Promise.all([
      ...listening.map((member) => wait(member, () => serviceMissing(member, specOf(member).ports.http as number))),
      ...services.map((service) => wait(sidecarOf(service), () => groupMissing(kafka, service.name, new Set()))),
    ])
  }

  const cluster: Cluster = {
    folder,
    members,
    kafka,
    urls: ofServices(({ name }) => plans.map((each) => urlOf(each, name))),
    stateFiles,
    start: (member) => void startProcess(folder, specOf(member)),
    async signal(member, signal) {
      const state = processState(folder, member)
      if (state.state !== 'running') return
      signalGroup(state.group, signal)
      if (signal !== 'SIGKILL' && signal !== 'SIGTERM') return
      if (!(await groupEnds(state.group, goneTimeoutMs))) throw new Error(`${member} survives ${signal}`)
    },
    ended() {
      const table = readProcessTable()
      const states = members.map((member) => [member, processState(folder, member, table)] as const)
      return new Map(states.flatMap(([member, state]) => (state.state === 'crashed' ? [[member, state.exit]] : [])))
    },
    ready,
    kafkaReady,
  }
  for (const member of members.filter((name) => name !== 'kafka')) cluster.start(member)
  await ready()
  return cluster
}

/** Whether a member is that process, or another replica of it. */
export const isReplicaOf = (member: Member, name: string) => member.replace(/-2$/, '') === name

const urlOf = (plan: Plan, service: string) => `http://127.0.0.1:${entryOf(plan.ports.services, service).http}`

/** The broker belongs to the first plan only; of the second the processes have other names. */
function specsOf(plan: Plan, index: number, stateFiles: Cluster['stateFiles']): [Member, ProcessSpec][] {
  const specs = processSpecs(plan)
  const replicas = services.flatMap((service) => {
    const sidecar = entryOf(specs, sidecarOf(service))
    const env = { ...sidecar.env, State__ConnectionString: entryOf(stateFiles, service.name) }
    return [entryOf(specs, service.name), { ...sidecar, env }]
  })
  if (index === 0) return [entryOf(specs, 'kafka'), ...replicas].map((spec) => [spec.name, spec])
  return replicas.map((spec) => [`${spec.name}-2`, { ...spec, name: `${spec.name}-2` }])
}
