import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's folder, without a trailing slash. */
export const repository = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '')

/** The folder with the state of `make up`. Git ignores it. */
export const localFolder = join(repository, '.stack')

/** The file with the hashes of this checkout's API keys, which services read. */
export const apiKeysFile = join(localFolder, 'auth', 'api-keys.json')

/** Returns the folder of a suite's stack. Logs stay there after a run. */
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
  /** A scanner for secrets in Git repositories. */
  gitleaks: string
  /** The version of the Go module: 0.315.0 for Prometheus 3.15.0. */
  prometheus: string
  /** The builder of Prometheus' pages. Version 11 and later are not on npm. */
  pnpm: string
  grafana: string
  /** Testcontainers' reaper. The npm package testcontainers requires this version. */
  ryuk: string
  /** The model checker of TLA+. */
  tlc: string
  /** A collector of traces. */
  jaeger: string
}

/** The pinned versions. `packages/cli/node` reads this file with sed. */
export const versions = JSON.parse(readFileSync(join(repository, 'packages/cli/versions.json'), 'utf8')) as Versions

/**
 * Returns the folder of provisioned tools, which all checkouts share. Each tool and version has a subfolder. `packages/cli/node` uses the same
 * folder.
 */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.ORDERFLOW_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'orderflow')
}

/** The folder with Node's compiled code of this checkout. `packages/cli/node` uses the same folder. */
export const compileCacheFolder = join(localFolder, 'compile-cache')

export function daprdFile(): string {
  return join(cacheFolder(), `daprd-${versions.dapr}`, 'daprd')
}

export function kafkaJarsFolder(): string {
  return join(cacheFolder(), `kafka-${versions.kafka}`, 'libs')
}

/** Returns the archive of the broker's classes, which Java has loaded and verified. */
export function classArchiveFile(): string {
  return join(cacheFolder(), `kafka-${versions.kafka}.jsa`)
}
