import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyArtifact } from '@orderflow/programs'
import { cacheFolder, runTool } from '@orderflow/stack/base'
import {
  hashOf,
  java,
  maven,
  type Provisioned,
  type ProvisionOptions,
  provisionTools,
} from '@orderflow/stack/internals'

import { checkHash, clusterVersions, ensurePrograms, programFile } from './programs.ts'

export { clusterVersions }

// The definitions of resources (CRDs) that other operators add to a cluster. With them, the API server checks such resources as strictly as its own.

const sources = { gatewayApi: 'config/crd/standard', prometheusOperator: 'example/prometheus-operator-crd' } as const

/** Returns the files with the definitions of the Gateway API or of the Prometheus Operator. */
export async function ensureDefinitions(of: keyof typeof sources, options: ProvisionOptions): Promise<string[]> {
  await ensurePrograms([of], options)
  const folder = programFile(of, sources[of])
  return readdirSync(folder).map((name) => join(folder, name))
}

const { strimzi } = clusterVersions
export const strimziArtifacts = ['crd-generator', 'api'].map((name) => `io.strimzi:${name}:${strimzi}`)
const minimumJava = 21
const kinds = { topic: 'KafkaTopic', user: 'KafkaUser' }

/** Returns the reason why this machine cannot generate Strimzi's definitions. */
export const strimziMissing = (): string | undefined =>
  newestJava().version < minimumJava ? `Strimzi needs Java ${minimumJava}: ${java.otherwise}` : undefined

/** Returns the files with Strimzi's definitions of topics and users, which Strimzi generates from its classes. */
export async function ensureStrimziDefinitions(options: ProvisionOptions): Promise<string[]> {
  const tool = strimziTool()
  await provisionTools([tool], options)
  return Object.keys(kinds).map((name) => join(tool.folder, `${name}.yaml`))
}

const strimziTool = (): Provisioned => ({
  folder: join(cacheFolder(), `strimzi-${strimzi}`),
  about: `Strimzi ${strimzi}: downloading 20 MB`,
  needs: [java, maven],
  make: generate,
})

/** Returns the current hashes of Strimzi's artifacts. */
export async function strimziHashes(): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-strimzi-'))
  try {
    const hashes: Record<string, string> = {}
    for (const artifact of strimziArtifacts) hashes[artifact] = hashOf(await copyArtifact(artifact, folder, {}))
    return hashes
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function generate(folder: string, options: ProvisionOptions): Promise<void> {
  const jars: string[] = []
  for (const artifact of strimziArtifacts) {
    const jar = await copyArtifact(artifact, folder, options)
    checkHash(artifact, hashOf(jar))
    jars.push(jar)
  }
  const { command } = newestJava()
  const { signal } = options
  const main = ['-cp', jars.join(':'), 'io.strimzi.crdgenerator.CrdGenerator']
  const outputs = Object.entries(kinds).map(
    ([name, kind]) => `io.strimzi.api.kafka.model.${name}.${kind}=${join(folder, `${name}.yaml`)}`,
  )
  const settings = ['--target-kube', '1.27+', '--crd-api-version', 'v1', '--yaml']
  await runTool(command, [...main, ...settings, ...outputs], { cwd: folder, signal })
}

/** Returns the newest Java of this machine. Debian's newest one is older than Strimzi needs, so others in the folder of JVMs count, too. */
function newestJava(): { command: string; version: number } {
  const commands = [java.command, ...globSync('/usr/lib/jvm/*/bin/java')]
  const versions = commands.map((command) => ({ command, version: versionOf(command) }))
  return versions.reduce((newest, each) => (each.version > newest.version ? each : newest))
}

function versionOf(command: string): number {
  try {
    const printed = execFileSync(command, ['--version'], { encoding: 'utf8', stdio: 'pipe' })
    return Number(/^\w+ (\d+)/.exec(printed)?.[1] ?? 0)
  } catch {
    return 0
  }
}
