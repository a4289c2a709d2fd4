import { ensureRunning } from './ensure.ts'
import { type KafkaConnection, localKafka } from './kafka-connection.ts'
import type { Plan, ProcessName } from './plan.ts'
import type { StackPorts } from './ports.ts'
import { groupEnds, signalGroup, stopProcess } from './process-control.ts'
import { processState } from './run-record.ts'
import type { StackTokens } from './secrets.ts'
import { stopStack } from './stop.ts'
import { releaseFolder } from './test-owner.ts'

/** A started stack: its addresses, and control over its processes for tests. */
export interface RunningStack {
  orderUrl: string
  orderHttpsUrl: string
  paymentUrl: string
  paymentHttpsUrl: string
  kafka: KafkaConnection
  /** PEM file that clients of the https addresses trust. */
  certificateFile: string
  folder: string
  ports: StackPorts
  /** Tokens between each service and its sidecar. */
  tokens: StackTokens
  /** Signals a process; returns when it is gone if the signal ends it (SIGKILL, SIGTERM). */
  kill: (name: ProcessName, signal?: NodeJS.Signals) => Promise<void>
  /** Stops a process if it runs, starts it and waits until it is ready. */
  restart: (name: ProcessName) => Promise<void>
  stop: () => Promise<void>
}

const goneTimeoutMs = 20_000
const restartGraceMs = 10_000

export function runningStack(plan: Plan, detached: boolean): RunningStack {
  const { folder, ports, tokens, certificate } = plan
  return {
    orderUrl: `http://127.0.0.1:${ports.order.http}`,
    orderHttpsUrl: `https://127.0.0.1:${ports.order.https}`,
    paymentUrl: `http://127.0.0.1:${ports.payment.http}`,
    paymentHttpsUrl: `https://127.0.0.1:${ports.payment.https}`,
    kafka: localKafka(ports.kafka),
    certificateFile: certificate.certificate,
    folder,
    ports,
    tokens,
    kill: (name, signal = 'SIGKILL') => killProcess(folder, name, signal),
    restart: async (name) => {
      await stopProcess(folder, name, restartGraceMs)
      await ensureRunning(plan, [name], { onProgress: () => {} })
    },
    stop: async () => {
      if (detached) await stopStack(folder, () => {})
      else await releaseFolder(folder)
    },
  }
}

async function killProcess(folder: string, name: ProcessName, signal: NodeJS.Signals): Promise<void> {
  const state = processState(folder, name)
  if (state.state !== 'running') throw new Error(`${name} does not run`)
  signalGroup(state.group, signal)
  if (signal !== 'SIGKILL' && signal !== 'SIGTERM') return
  if (!(await groupEnds(state.group, goneTimeoutMs))) throw new Error(`${name} survives ${signal}`)
}
