import { localFolder } from '../application/paths.ts'
import { changeStack, readStack } from '../application/stack-record.ts'
import { brokerNames } from '../kafka/broker.ts'
import { logLost } from '../kafka/lost-log.ts'
import { docker } from '../provision/engine.ts'
import { type ComposeServers, type Project, readProject } from './project.ts'

type ProjectServers = Pick<Project, 'name' | 'brokers'>

/** Three brokers have volumes with other names than a single broker, whose log has another format. */
const volumesOf = ({ name, brokers }: ProjectServers) =>
  brokers === 1 ? [`${name}_kafka`] : brokerNames({ brokers }).map((_, index) => `${name}_kafka-${index + 1}`)

/** Returns the record of a project. A record of another project, with other volumes, is not valid. */
function recordOf({ name }: Pick<Project, 'name'>) {
  const { containers } = readStack(localFolder)
  return containers?.project === name ? containers : undefined
}

/** Returns true if this version has started the project. */
export const isRecorded = (name: string): boolean => recordOf({ name }) !== undefined

/** Returns the number of brokers of the last start. Undefined before the first one. */
export async function lastBrokers(): Promise<number | undefined> {
  const project = readProject()
  if (!project) return undefined
  const recorded = recordOf(project)?.brokers
  // Version 0.2.0, whose Kafka had one broker, kept no record.
  return recorded ?? ((await hasVolume(`${project.name}_kafka`)) ? 1 : undefined)
}

/** Records the runner and the number of brokers, before the first container starts. */
export function recordBrokers({ name }: Pick<Project, 'name'>, { brokers }: Pick<ComposeServers, 'brokers'>): void {
  const { volumes = [] } = recordOf({ name }) ?? {}
  changeStack(localFolder, { runner: 'docker', containers: { project: name, brokers, volumes } })
}

/** Records that the brokers have a log. If a volume is missing from then on, its disk was lost. */
export function recordVolumes({ name, brokers }: ProjectServers): void {
  changeStack(localFolder, { containers: { project: name, brokers, volumes: volumesOf({ name, brokers }) } })
}

/**
 * Checks that a majority of the brokers still has its volume.
 * @throws {CliError} `data-lost`
 */
export async function requireLog({ name, brokers }: ProjectServers): Promise<void> {
  const { volumes = [] } = recordOf({ name }) ?? {}
  if (volumes.length === 0) return
  const present = (await docker('volume', 'ls', '--quiet')).trim().split('\n')
  const lost = volumes.filter((volume) => !present.includes(volume))
  if (lost.length * 2 > brokers) throw logLost(lost.map((volume) => `the volume ${volume}`))
}

/** Returns false without a Docker engine. */
export async function hasVolume(name: string): Promise<boolean> {
  const names = await docker('volume', 'ls', '--quiet', '--filter', `name=^${name}$`).catch(() => '')
  return names.trim() !== ''
}
