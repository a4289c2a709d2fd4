import { join } from 'node:path'
import { freePorts, type KafkaConnection } from '@orderflow/stack'
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
import type { StateFiles } from './ledger/read-files.ts'

export type Role = 'order' | 'payment'
/** A process of the cluster; those that end in `-2` are second replicas. */
export type Member = 'kafka' | `${Role}-${'service' | 'sidecar'}${'' | '-2'}`

/** A stack of which every process can be started and ended alone, each service with its sidecar once or twice. */
export interface Cluster {
  folder: string
  members: Member[]
  kafka: KafkaConnection
  /** Of each replica. */
  urls: Record<Role, string[]>
  stateFiles: StateFiles
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

  const stateFiles = { order: join(folder, 'state/order.db'), payment: join(folder, 'state/payment.db') }
  const specs = new Map(plans.flatMap((each, index) => specsOf(each, index, stateFiles)))
  const members = [...specs.keys()]
  const kafka = localKafka(plan.ports.kafka)
  const specOf = (member: Member) => specs.get(member) as ProcessSpec

  const wait = (what: Member, probe: () => Promise<string | undefined>) =>
    waitUntil(what, { folder, processes: [], timeoutMs: readyTimeoutMs }, probe)
  const kafkaReady = () => wait('kafka', () => kafkaMissing(kafka))
  async function ready(): Promise<void> {
    await kafkaReady()
    const services = members.filter((member) => member.includes('-service'))
    await Promise.all([
      ...services.map((member) => wait(member, () => serviceMissing(member, specOf(member).ports.http as number))),
      wait('order-sidecar', () => groupMissing(kafka, 'order-service', new Set())),
      wait('payment-sidecar', () => groupMissing(kafka, 'payment-service', new Set())),
    ])
  }

  const cluster: Cluster = {
    folder,
    members,
    kafka,
    urls: { order: plans.map((each) => urlOf(each, 'order')), payment: plans.map((each) => urlOf(each, 'payment')) },
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

const urlOf = (plan: Plan, role: Role) => `http://127.0.0.1:${plan.ports[role].http}`

function specsOf(plan: Plan, index: number, stateFiles: StateFiles): [Member, ProcessSpec][] {
  const { kafka, ...others } = processSpecs(plan)
  const replicas = Object.values(others).map((spec): [Member, ProcessSpec] => {
    const name = `${spec.name}${index > 0 ? '-2' : ''}` as Member
    const file = spec.name.startsWith('order') ? stateFiles.order : stateFiles.payment
    return [name, { ...spec, name, env: { ...spec.env, State__ConnectionString: file } }]
  })
  return index > 0 ? replicas : [['kafka', kafka], ...replicas]
}
