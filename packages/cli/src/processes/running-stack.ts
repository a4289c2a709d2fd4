import { readFileSync } from 'node:fs'
import { type Addresses, addressAt, localKafka } from '../kafka/connection.ts'
import { entryOf, ofServices } from '../lib/services.ts'
import { ensureRunning } from './ensure.ts'
import type { Plan, ProcessName } from './plan.ts'
import { groupEnds, signalGroup, stopProcess } from './process-control.ts'
import { processState } from './run-record.ts'
import type { StackTokens } from './secrets.ts'
import { stopStack } from './stop.ts'
import { releaseFolder } from './test-owner.ts'

/** The listeners of a service and its sidecar that nobody outside can reach: where the sidecar calls the service, and back. */
type InnerListener = 'channel' | 'sidecar'

/** A request as text; GET when nothing is said. */
export interface InnerRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
}

/** A started stack, however it runs: its addresses, and control over its parts for tests. */
export interface RunningStack extends Addresses {
  /** What clients of the https addresses trust, as PEM. */
  certificate: string
  /** Tokens between each service and its sidecar. */
  tokens: StackTokens
  /** By which its services sign what they publish, as they have them; empty when they do not. */
  signingKeys: string
  /** Sends a request from where a service and its sidecar are. */
  askInside: (
    service: string,
    listener: InnerListener,
    path: string,
    request?: InnerRequest,
  ) => Promise<{ status: number; body: string }>
  /** Signals a part; returns when it is gone if the signal ends it (SIGKILL, SIGTERM). */
  kill: (name: string, signal?: NodeJS.Signals) => Promise<void>
  /** Stops a part if it runs, starts it and waits until it is ready. */
  restart: (name: string) => Promise<void>
  stop: () => Promise<void>
}

/** A stack of processes of this machine. */
export interface LocalStack extends RunningStack {
  folder: string
}

const goneTimeoutMs = 20_000
const restartGraceMs = 10_000

export function runningStack(plan: Plan, detached: boolean): LocalStack {
  const { folder, ports, tokens, certificate } = plan
  return {
    services: ofServices(({ name }) => addressAt('127.0.0.1', entryOf(ports.services, name))),
    kafka: localKafka(ports.kafka),
    certificate: readFileSync(certificate.certificate, 'utf8'),
    folder,
    tokens,
    signingKeys: process.env.Trust__SigningKeys ?? '',
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
