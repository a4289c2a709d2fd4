import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../lib/files.ts'
import { localFolder, repository } from '../lib/paths.ts'
import { loopbacks } from '../lib/ports.ts'
import { ofServices, type Service, serviceNamed, sidecarOf } from '../lib/services.ts'
import { docker } from './docker.ts'
import { postgresqlFile, readProject } from './project.ts'

/** The number of replicas of each service. */
type ReplicaCounts = Record<string, number>

/** The Compose file for settings that depend on this machine or on `./orderflow scale`. */
const additionsFile = join(localFolder, 'docker/additions.json')

/** The containers that one replica of a service is: its pod, its sidecar, the service itself. */
export function podOf(service: Service, number = 1): [pod: string, sidecar: string, service: string] {
  const suffix = number > 1 ? `-${number}` : ''
  return [`${service.role}-pod${suffix}`, `${sidecarOf(service)}${suffix}`, `${service.name}${suffix}`]
}

interface ComposeService {
  /** As docker-compose.yml has them, such as `127.0.0.1:5000:5000`. */
  ports?: string[]
  build?: unknown
  network_mode?: string
  depends_on?: Record<string, unknown>
  /** It runs with one of them only. */
  profiles?: string[]
}

interface ComposeModel {
  services: Record<string, ComposeService>
}

/**
 * The further replicas of services as Compose services: each a pod, sidecar and service of its own (a-pod-2,
 * a-sidecar-2, a-service-2, …), without published ports. Compose's own `--scale` cannot do it: it would put
 * every replica into the network of the first one's pod.
 */
export function replicaServices(model: ComposeModel, counts: ReplicaCounts): ComposeModel {
  const replicas: ComposeModel['services'] = {}
  for (const [name, count] of Object.entries(counts)) {
    const first = podOf(serviceNamed(name))
    for (let number = 2; number <= count; number += 1) {
      const own = podOf(serviceNamed(name), number)
      const rename = (other: string) => own[first.indexOf(other)] ?? other
      for (const container of first) replicas[rename(container)] = replica(model.services[container] ?? {}, rename)
    }
  }
  return { services: replicas }
}

function replica({ ports, build, ...kept }: ComposeService, rename: (name: string) => string): ComposeService {
  const dependencies = Object.entries(kept.depends_on ?? {}).map(([name, how]) => [rename(name), how])
  return {
    ...kept,
    ...(kept.network_mode && { network_mode: kept.network_mode.replace(/(?<=^service:).+/, rename) }),
    ...(kept.depends_on && { depends_on: Object.fromEntries(dependencies) }),
  }
}

/**
 * The published ports on ::1, too. A container with a port on an address that the machine lacks does not start, and Compose has no
 * condition for it, so docker-compose.yml publishes on 127.0.0.1 alone.
 */
export function ipv6Ports({ services }: ComposeModel): ComposeModel {
  const published = Object.entries(services).flatMap(([name, { ports = [] }]) => {
    const own = ports.filter((port) => port.startsWith('127.0.0.1:'))
    return own.length > 0 ? [[name, { ports: own.map((port) => port.replace('127.0.0.1', '[::1]')) }] as const] : []
  })
  return { services: Object.fromEntries(published) }
}

/**
 * Writes the Compose file of further replicas and of ports on ::1, with the variables of docker-compose.yml still in
 * it.
 */
export async function writeAdditions(counts: ReplicaCounts): Promise<void> {
  const model = await readModel(withoutAdditions())
  const { services } = replicaServices(model, counts)
  const ports = loopbacks().includes('::1') ? ipv6Ports(model).services : {}
  replaceFile(additionsFile, `${JSON.stringify({ services: { ...ports, ...services } }, null, 2)}\n`)
}

/** Returns the content of these files as Compose reads it, with variables not yet replaced. */
async function readModel(files: string[]): Promise<ComposeModel> {
  const named = files.flatMap((file) => ['-f', file])
  // biome-ignore lint/plugin/no-spread-arguments: two or three files
  return JSON.parse(await docker('compose', ...named, 'config', '--no-interpolate', '--format', 'json')) as ComposeModel
}

/**
 * The names in docker-compose.yml of all containers that `make up` starts, replicas and what `make observe` added, too.
 */
export async function expectedContainers(): Promise<string[]> {
  const model = await readModel(composeFiles())
  const active = readProject()?.profiles ?? []
  const isExpected = ({ profiles }: ComposeService) => profiles?.some((profile) => active.includes(profile)) ?? true
  return Object.keys(model.services)
    .filter((name) => isExpected(model.services[name] ?? {}))
    .sort()
}

/** Returns the number of replicas that `./orderflow scale` asked for last, else those of services.json. */
export function readReplicaCounts(): ReplicaCounts {
  if (!existsSync(additionsFile)) return ofServices(({ replicas }) => replicas)
  const added = Object.keys((JSON.parse(readFileSync(additionsFile, 'utf8')) as ComposeModel).services)
  const isReplicaOf = (name: string) => (other: string) => other.replace(/-\d+$/, '') === name
  return ofServices(({ name }) => 1 + added.filter(isReplicaOf(name)).length)
}

export function removeAdditions(): void {
  rmSync(additionsFile, { force: true })
}

/** The Compose files of `make up`. */
export function composeFiles(): string[] {
  return [...withoutAdditions(), ...(existsSync(additionsFile) ? [additionsFile] : [])]
}

function withoutAdditions(): string[] {
  const files = readProject()?.store === 'postgresql' ? [postgresqlFile] : []
  return ['docker-compose.yml', ...files].map((file) => join(repository, file))
}
