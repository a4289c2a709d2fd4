import { readFileSync } from 'node:fs'
import { entryOf, ofServices } from '../application/services.ts'
import { type Addresses, addressAt } from '../kafka/connection.ts'
import { ensureRunning } from './ensure.ts'
import { kafkaOf, type Plan, type ProcessName, type StackTokens } from './plan.ts'
import { groupEnds, processState, signalGroup, stopProcess, stopStack } from './process/control.ts'
import { releaseFolder } from './test-owner.ts'

/** The private listeners of a service: the channel, which the sidecar calls, and the sidecar's API. */
type InnerListener = 'channel' | 'sidecar'

export interface InnerRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
}

export interface RunningStack extends Addresses {
  /** The certificate of https addresses, as PEM. */
  certificate: string
  tokens: StackTokens
  /** The keys with which services sign events. Empty if services do not sign events. */
  signingKeys: string
  askInside: (
    service: string,
    listener: InnerListener,
    path: string,
    request?: InnerRequest,
  ) => Promise<{ status: number; body: string }>
  /** Sends SIGKILL or another signal to a part. After SIGKILL and SIGTERM, waits until the part has ended. */
  kill: (name: string, signal?: NodeJS.Signals) => Promise<void>
  restart: (name: string) => Promise<void>
  stop: () => Promise<void>
}

export interface LocalStack extends RunningStack {
  folder: string
  plan: Plan
}

const goneTimeoutMs = 20_000
const restartGraceMs = 10_000

export function runningStack(plan: Plan, detached: boolean): LocalStack {
  const { folder, ports, tokens, certificate } = plan
  return {
    services: ofServices(({ name }) => addressAt('127.0.0.1', entryOf(ports.services, name))),
    kafka: kafkaOf(plan),
    certificate: readFileSync(certificate.certificate, 'utf8'),
    folder,
    plan,
    tokens,
    signingKeys: plan.variables.Trust__SigningKeys ?? '',
    askInside: async (service, listener, path, request) => {
      const { channel, daprHttp } = entryOf(ports.services, service)
      const port = listener === 'channel' ? channel : daprHttp
      const response = await fetch(`http://127.0.0.1:${port}${path}`, request)
      return { status: response.status, body: await response.text() }
    },
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
