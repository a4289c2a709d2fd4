import { operateProgram, type Service, storedServices } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { runInTerminal } from '../base/run-tool.ts'
import { streamSettings } from '../kafka/connection.ts'
import { type Container, containersOfCheckout, serviceOf } from './docker.ts'
import { requireProject } from './project.ts'
import { requireRecorded } from './variables.ts'

/** Runs an operator's command in the service's container, which has the settings and the sidecar's network. */
export async function operate(service: Service, args: string[]): Promise<number> {
  requireProject()
  requireRecorded(process.env)
  const { Id } = requireRunningContainer(await containersOfCheckout(), service.name)
  return runInTerminal('docker', ['exec', Id, 'node', operateProgram, ...args])
}

/** Returns the variables with which operators' commands on this machine use the stack's Kafka. */
export async function streamVariables(): Promise<Record<string, string>> {
  const { kafka } = requireProject()
  requireRecorded(process.env)
  return { ...(await trustVariables()), ...streamSettings(kafka) }
}

async function trustVariables(): Promise<Record<string, string>> {
  // All services with a store have the same keys.
  const { Config } = requireRunningContainer(await containersOfCheckout(), storedServices[0]?.name ?? '')
  const pairs = Config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
  return Object.fromEntries(pairs.filter(([variable]) => variable.startsWith('Trust__')))
}

function requireRunningContainer(containers: Container[], service: string): Container {
  const running = containers.find((each) => serviceOf(each) === service && each.State.Status === 'running')
  if (running) return running
  throw new CliError('not-running', `${service} does not run`, { nextStep: 'make up' })
}
