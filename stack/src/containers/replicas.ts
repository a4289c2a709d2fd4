import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { localFolder, repository } from '../lib/paths.ts'
import { replaceFile } from '../lib/replace-file.ts'
import { ofServices, type Service, serviceNamed, sidecarOf } from '../lib/services.ts'
import { docker } from './docker.ts'
import { postgresqlFile, readProject } from './project.ts'

/** How many of a service there are, by service. */
export type ReplicaCounts = Record<string, number>

const replicasFile = join(localFolder, 'docker/replicas.json')

/** The containers that one replica of a service is: its pod, its sidecar, the service itself. */
export function podOf(service: Service, number = 1): [pod: string, sidecar: string, service: string] {
  const suffix = number > 1 ? `-${number}` : ''
  return [`${service.role}-pod${suffix}`, `${sidecarOf(service)}${suffix}`, `${service.name}${suffix}`]
}

interface ComposeService {
  ports?: unknown
  build?: unknown
  network_mode?: string
  depends_on?: Record<string, unknown>
  /** It runs with one of them only. */
  profiles?: string[]
}

export interface ComposeModel {
  services: Record<string, ComposeService>
}

/**
 * The further replicas of services as Compose services: each a pod, sidecar and service of its own (payment-pod-2,
 * payment-sidecar-2, payment-service-2, …), without published ports. Compose's own `--scale` cannot do it: it would put
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

/** Writes the Compose file of further replicas, with the variables of docker-compose.yml still in it. */
export async function writeReplicas(counts: ReplicaCounts, file = replicasFile): Promise<void> {
  const model = await readModel(withoutReplicas())
  replaceFile(file, `${JSON.stringify(replicaServices(model, counts), null, 2)}\n`)
}

/** What Compose understands these files to say, variables still in it. */
async function readModel(files: string[]): Promise<ComposeModel> {
  const named = files.flatMap((file) => ['-f', file])
  // biome-ignore lint/plugin/no-spread-arguments: two or three files
  return JSON.parse(await docker('compose', ...named, 'config', '--no-interpolate', '--format', 'json')) as ComposeModel
}

/** The names in docker-compose.yml of all containers that `make up` starts, replicas and what `make observe` added, too. */
export async function expectedContainers(): Promise<string[]> {
  const model = await readModel(composeFiles())
  const active = readProject()?.profiles ?? []
  const isExpected = ({ profiles }: ComposeService) => profiles?.some((profile) => active.includes(profile)) ?? true
  return Object.keys(model.services)
    .filter((name) => isExpected(model.services[name] ?? {}))
    .sort()
}

/** How many of each service there should be: those that `make scale` asked for last, else those of services.json. */
export function readReplicaCounts(): ReplicaCounts {
  if (!existsSync(replicasFile)) return ofServices(({ replicas }) => replicas)
  const replicas = Object.keys((JSON.parse(readFileSync(replicasFile, 'utf8')) as ComposeModel).services)
  const isReplicaOf = (name: string) => (other: string) => other.replace(/-\d+$/, '') === name
  return ofServices(({ name }) => 1 + replicas.filter(isReplicaOf(name)).length)
}

export function removeReplicas(): void {
  rmSync(replicasFile, { force: true })
}

/** The Compose files of `make up`. */
export function composeFiles(): string[] {
  return [...withoutReplicas(), ...(existsSync(replicasFile) ? [replicasFile] : [])]
}

function withoutReplicas(): string[] {
  const files = readProject()?.store === 'postgresql' ? [postgresqlFile] : []
  return ['docker-compose.yml', ...files].map((file) => join(repository, file))
}
