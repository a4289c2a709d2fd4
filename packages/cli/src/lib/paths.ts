import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's folder, without a trailing slash. */
export const repository = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '')

/** The state of `make up`; git ignores it. */
export const localFolder = join(repository, '.stack')

/** The API keys of this checkout's stacks: hashes, which services read. */
export const apiKeysFile = join(localFolder, 'auth', 'api-keys.json')

/** A folder for a suite's own stack, `name` being the suite's. Its logs stay there after a run. */
export function testFolder(name: string): string {
  return join(localFolder, 'test', name)
}

interface Versions {
  node: string
  npm: string
  dapr: string
  kafka: string
  compose: string
  actionlint: string
  /** Looks for secrets in what git has. */
  gitleaks: string
  /** The Go module's; Prometheus 3.15.0 is 0.315.0 there. */
  prometheus: string
  /** By which Prometheus' pages are built; from 11 on it is a program of its own, which npm does not hold. */
  pnpm: string
  grafana: string
  /** Testcontainers' reaper, as testcontainers asks for it. */
  ryuk: string
  /** The model checker of TLA+. */
  tlc: string
  /** A collector of traces. */
  jaeger: string
}

/** The pinned versions. `packages/cli/node` reads the same file with sed. */
export const versions = JSON.parse(readFileSync(join(repository, 'packages/cli/versions.json'), 'utf8')) as Versions

/**
 * Returns the folder of provisioned tools: one subfolder for each tool and version, shared by all checkouts.
 * `packages/cli/node` has the same rule.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.ORDERFLOW_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'orderflow')
}

/** The folder of code that Node has compiled, which goes with this checkout. `packages/cli/node` has the same rule. */
export const compileCacheFolder = join(localFolder, 'compile-cache')

export function daprdFile(): string {
  return join(cacheFolder(), `daprd-${versions.dapr}`, 'daprd')
}

export function kafkaJarsFolder(): string {
  return join(cacheFolder(), `kafka-${versions.kafka}`, 'libs')
}

/** The broker's classes as Java has loaded and checked them once. */
export function classArchiveFile(): string {
  return join(cacheFolder(), `kafka-${versions.kafka}.jsa`)
}
