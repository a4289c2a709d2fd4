import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { localFolder, repository } from '../lib/paths.ts'
import { docker } from './docker.ts'

/** Services of docker-compose.yml that can have replicas. */
export const scalable = ['order-service', 'payment-service'] as const
export type Scalable = (typeof scalable)[number]

const composeFile = join(repository, 'docker-compose.yml')
const replicasFile = join(localFolder, 'docker/replicas.json')

interface ComposeService {
  ports?: unknown
  build?: unknown
  network_mode?: string
  depends_on?: Record<string, unknown>
}

interface ComposeModel {
  services: Record<string, ComposeService>
}

/**
 * The further replicas of services as Compose services: each a pod, sidecar and service of its own (payment-pod-2,
 * payment-sidecar-2, payment-service-2, …), without published ports. Compose's own `--scale` cannot do it: it would put
 * every replica into the network of the first one's pod.
 */
export function replicaServices(model: ComposeModel, counts: Partial<Record<Scalable, number>>): ComposeModel {
  const services: ComposeModel['services'] = {}
  for (const [service, count = 1] of Object.entries(counts)) {
    const role = service.replace('-service', '')
    const own = ['pod', 'sidecar', 'service'].map((room) => `${role}-${room}`)
    for (let number = 2; number <= count; number += 1) {
      const rename = (name: string) => (own.includes(name) ? `${name}-${number}` : name)
      for (const name of own) services[rename(name)] = replica(model.services[name] ?? {}, rename)
    }
  }
  return { services }
}

function replica({ ports, build, ...kept }: ComposeService, rename: (name: string) => string): ComposeService {
  const dependencies = Object.entries(kept.depends_on ?? {}).map(([name, how]) => [rename(name), how])
  return {
    ...kept,
    ...(kept.network_mode && { network_mode: kept.network_mode.replace(/(?<=^service:).+/, rename) }),
    ...(kept.depends_on && { depends_on: Object.fromEntries(dependencies) }),
  }
}

/** Writes the Compose file of further replicas, with docker-compose.yml's variables still in it. */
export async function writeReplicas(counts: Partial<Record<Scalable, number>>, file = replicasFile): Promise<void> {
  const model = await docker('compose', '-f', composeFile, 'config', '--no-interpolate', '--format', 'json')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(replicaServices(JSON.parse(model), counts), null, 2)}\n`)
}

/** How many of each service `make scale` asked for last. */
export function readReplicaCounts(): Partial<Record<Scalable, number>> {
  if (!existsSync(replicasFile)) return {}
  const { services } = JSON.parse(readFileSync(replicasFile, 'utf8')) as ComposeModel
  const count = (name: string) => 1 + Object.keys(services).filter((other) => other.startsWith(`${name}-`)).length
  return Object.fromEntries(scalable.map((name) => [name, count(name)]))
}

export function removeReplicas(): void {
  rmSync(replicasFile, { force: true })
}

/** The Compose files of `make up`. */
export function composeFiles(): string[] {
  return [composeFile, ...(existsSync(replicasFile) ? [replicasFile] : [])]
}
