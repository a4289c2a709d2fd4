import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applicationFile } from '@orderflow/service-kit/setup'

/** The folder of this package, for example `node_modules/@orderflow/stack`. */
export const stackFolder = dirname(dirname(import.meta.dirname))

/** Returns the path of a file that programs, images or applications get as it is, or with values in place of `{{name}}`. */
export const templateFile = (path: string): string => join(stackFolder, 'templates', path)

/** The application's folder: the nearest folder above this package with a services.json. */
export const repository = dirname(applicationFile(stackFolder))

/** The name in the application's package.json, without its scope. Names of images and containers begin with it. */
export const applicationName: string = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')).name.replace(
  /^@.*\//,
  '',
)

/** The version of all packages. */
export const packagesVersion: string = JSON.parse(readFileSync(join(stackFolder, 'package.json'), 'utf8')).version

/** True if this package is installed in an application. In the repository of the packages, it is a folder of `packages/`. */
export const isInstalled = stackFolder.includes('/node_modules/')

/** Returns the path of a file of our packages, for messages. It is relative to the application's folder. */
export const packageFile = (path: string): string => relative(repository, join(dirname(stackFolder), path))

/** Returns the file of a program that a package exports, or that this package lists in `imports`, such as `#exporter`. */
export const programFile = (name: string): string => fileURLToPath(import.meta.resolve(name))

/** Returns the path of a file of the application in the images of the services and of setup. */
export const imagePath = (file: string): string => join('/app', relative(repository, file))

/** The folder for the state of `make up`. Git ignores it. */
export const localFolder = join(repository, '.stack')

export const apiKeysFile = join(localFolder, 'auth', 'api-keys.json')

/** Returns the folder of a suite's stack. The stack's logs stay there after a run. */
export const testFolder = (name: string): string => join(localFolder, 'test', name)

interface Versions {
  node: string
  npm: string
  dapr: string
  kafka: string
  compose: string
  actionlint: string
  gitleaks: string
  /** The version of Prometheus' Go module, for example 0.315.0 for Prometheus 3.15.0. */
  prometheus: string
  /** The version of pnpm, which builds Prometheus' pages. Version 11 and later are not on npm. */
  pnpm: string
  grafana: string
  /** The version of Testcontainers' reaper that the npm package testcontainers requires. */
  ryuk: string
  tlc: string
  jaeger: string
}

/** `packages/cli/node` reads this file with sed. */
export const versions = JSON.parse(readFileSync(join(stackFolder, 'versions.json'), 'utf8')) as Versions

/** Returns the folder of provisioned tools, which all checkouts share. `packages/cli/node` uses it, too. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  return env.ORDERFLOW_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'orderflow')
}

/** The folder of Node's compiled code. `packages/cli/node` uses it, too. */
export const compileCacheFolder = join(localFolder, 'compile-cache')

export const daprdFile = (): string => join(cacheFolder(), `daprd-${versions.dapr}`, 'daprd')

export const kafkaJarsFolder = (): string => join(cacheFolder(), `kafka-${versions.kafka}`, 'libs')

/** Returns the path of the archive of broker classes that Java has loaded and verified. */
export const classArchiveFile = (): string => join(cacheFolder(), `kafka-${versions.kafka}.jsa`)
