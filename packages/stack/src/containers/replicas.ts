import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { localFolder, repository } from '../application/paths.ts'
import { loopbacks, ofServices, type Service, serviceNamed, sidecarOf } from '../application/services.ts'
import { replaceFile } from '../base/files.ts'
import { docker } from '../provision/engine.ts'
import { defaultServers, filesOf, readProject } from './project.ts'

type ReplicaCounts = Record<string, number>

/** The additional Compose file of this machine. It contains the replicas of `./orderflow scale` and the ports on ::1. */
const additionsFile = join(localFolder, 'docker/additions.json')

export function podOf(service: Service, number = 1): [pod: string, sidecar: string, service: string] {
  const suffix = number > 1 ? `-${number}` : ''
  return [`${service.role}-pod${suffix}`, `${sidecarOf(service)}${suffix}`, `${service.name}${suffix}`]
}

/** Returns the name of the first replica of a container. */
export const withoutNumber = (container: string): string => container.replace(/-\d+$/, '')

/** Returns the names of the containers of each replica of a service. */
export function podsOf(service: Service): ReturnType<typeof podOf>[] {
  return Array.from({ length: readReplicaCounts()[service.name] ?? 1 }, (_, index) => podOf(service, index + 1))
}

interface ComposeService {
  /** Ports such as `127.0.0.1:5000:5000`. */
  ports?: string[]
  build?: unknown
  network_mode?: string
  depends_on?: Record<string, unknown>
  /** If set, the container starts only with one of these profiles. */
  profiles?: string[]
}

interface ComposeModel {
  services: Record<string, ComposeService>
}

/** Returns additional replicas as Compose services. They publish no ports. Each has its own pod, unlike the replicas of Compose's `--scale`. */
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

/** Returns the ports on ::1. docker-compose.yml leaves them out, because containers would fail to start on machines without ::1. */
export function ipv6Ports({ services }: ComposeModel): ComposeModel {
  const published = Object.entries(services).flatMap(([name, { ports = [] }]) => {
    const own = ports.filter((port) => port.startsWith('127.0.0.1:'))
    return own.length > 0 ? [[name, { ports: own.map((port) => port.replace('127.0.0.1', '[::1]')) }] as const] : []
  })
  return { services: Object.fromEntries(published) }
}

/** Writes `additionsFile`, with references to the variables of `.env` instead of secrets. */
export async function writeAdditions(counts: ReplicaCounts): Promise<void> {
  const model = await readModel(withoutAdditions())
  const { services } = replicaServices(model, counts)
  const ports = loopbacks().includes('::1') ? ipv6Ports(model).services : {}
  replaceFile(additionsFile, `${JSON.stringify({ services: { ...ports, ...services } }, null, 2)}\n`)
}

/** Returns the merged content of Compose files, with the names of variables instead of their values. */
async function readModel(files: string[]): Promise<ComposeModel> {
  const named = files.flatMap((file) => ['-f', file])
  // biome-ignore lint/plugin/no-spread-arguments: two or three files
  return JSON.parse(await docker('compose', ...named, 'config', '--no-interpolate', '--format', 'json')) as ComposeModel
}

export async function expectedContainers(): Promise<string[]> {
  const model = await readModel(composeFiles())
  const active = readProject()?.profiles ?? []
  const isExpected = ({ profiles }: ComposeService) => profiles?.some((profile) => active.includes(profile)) ?? true
  return Object.keys(model.services)
    .filter((name) => isExpected(model.services[name] ?? {}))
    .sort()
}

/** Returns the numbers of replicas that the last `./orderflow scale` has set, or that services.json declares. */
export function readReplicaCounts(): ReplicaCounts {
  if (!existsSync(additionsFile)) return ofServices(({ replicas }) => replicas)
  const added = Object.keys((JSON.parse(readFileSync(additionsFile, 'utf8')) as ComposeModel).services)
  return ofServices(({ name }) => 1 + added.filter((other) => withoutNumber(other) === name).length)
}

export function removeAdditions(): void {
  rmSync(additionsFile, { force: true })
}

export function composeFiles(): string[] {
  return [...withoutAdditions(), ...(existsSync(additionsFile) ? [additionsFile] : [])]
}

const withoutAdditions = (): string[] => filesOf(readProject() ?? defaultServers).map((file) => join(repository, file))
