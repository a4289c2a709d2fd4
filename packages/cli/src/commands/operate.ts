import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Container, containersOf, serviceOf } from '../containers/docker.ts'
import { type Project, readProject } from '../containers/project.ts'
import { streamSettings } from '../kafka/connection.ts'
import { StackError } from '../lib/error.ts'
import { localFolder, repository } from '../lib/paths.ts'
import { localPorts } from '../lib/ports.ts'
import { entryOf, type Service, serviceNamed, sidecarOf, storedServices } from '../lib/services.ts'
import { createPlan } from '../processes/plan.ts'
import { processSpecs } from '../processes/process-spec.ts'
import { requireUp } from '../processes/status.ts'
import { runningWay } from './way.ts'

/** Dead letters are the same to all: whoever reads the stream sees them. */
const anyService = storedServices[0] as Service

/**
 * `make dead-letters`: those of all services, for whoever reads the stream sees them all. Of the stack that runs, or of the
 * Kafka that the environment names. Returns the exit code.
 */
export async function deadLetters(args: string[]): Promise<number> {
  return await runHere(anyService, ['dead-letters', ...args], await streamOfDeadLetters())
}

/**
 * `make rebuild`: runs beside the service's sidecar, which is the only way to its store. Returns the exit code.
 * @throws {StackError} `usage` for an unknown service, `not-running`
 */
export async function rebuild(service: string | undefined, range: string[]): Promise<number> {
  const named = serviceNamed(service)
  if (!named.hasStore) {
    throw new StackError('usage', `${named.name} has no store to rebuild`, {
      nextStep: `SERVICE is one of ${storedServices.map(({ name }) => name).join(', ')}`,
    })
  }
  const project = await runningProject()
  if (project) return await runInside(project, named, ['rebuild', ...range])
  requireUp(localFolder, ['kafka', sidecarOf(named)])
  return await runHere(named, ['rebuild', ...range], {})
}

/** What differs from the stream of a local stack: where the environment says, or where containers publish it. */
async function streamOfDeadLetters(): Promise<Record<string, string>> {
  const { Stream__Brokers } = process.env
  if (Stream__Brokers) return { Stream__Brokers }
  const project = await runningProject()
  return project ? { ...(await trustIn(project)), ...streamSettings(project.kafka) } : {}
}

async function runningProject(): Promise<Project | undefined> {
  return (await runningWay()) === 'docker' ? readProject() : undefined
}

/** With the settings that the service has in the stack of `make up`, and those of the environment. */
async function runHere({ name, folder }: Service, args: string[], settings: Record<string, string>): Promise<number> {
  const { env } = entryOf(processSpecs(await createPlan(localFolder, localPorts())), name)
  return run(process.execPath, [join(repository, folder, entry), ...args], { ...env, ...settings })
}

/** In the service's container, which has its settings and shares a network with its sidecar. */
async function runInside({ name: project }: Project, service: Service, args: string[]): Promise<number> {
  const { Id } = running(await containersOf(project), service.name)
  return run('docker', ['exec', Id, 'node', entry, ...args], {})
}

/** By what services in containers sign. */
async function trustIn({ name }: Project): Promise<Record<string, string>> {
  const { Config } = running(await containersOf(name), anyService.name)
  const pairs = Config.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
  return Object.fromEntries(pairs.filter(([variable]) => variable.startsWith('Trust__')))
}

const entry = 'src/operate.ts'

function running(containers: Container[], service: string): Container {
  const found = containers.find((container) => serviceOf(container) === service && container.State.Status === 'running')
  if (found) return found
  throw new StackError('not-running', `${service} does not run`, { nextStep: 'make up' })
}

function run(command: string, args: string[], env: Record<string, string>): number {
  const { status } = spawnSync(command, args, { env: { ...process.env, ...env }, stdio: 'inherit' })
  return status ?? 130
}
