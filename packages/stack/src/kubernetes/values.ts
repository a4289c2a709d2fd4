import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repository } from '../application/paths.ts'
import { CliError, isObject } from '../base/error.ts'

export type KubernetesStore = 'mongodb' | 'postgresql'

/** The part of the chart's values that commands read (chart/values.yaml). */
export interface Values {
  sidecar: 'native' | 'injected'
  images: { registry: string; tag: string; digests: Record<string, string> }
  store: KubernetesStore
  kafka: { brokers: string; ca: { name: string; key: string } }
  setup: { enabled: boolean }
  settings: Record<string, string>
  apiKeys: string
  rebuild: string[]
  scaling: { enabled: boolean }
  route: { enabled: boolean; hosts: Record<string, string> }
  monitoring: { enabled: boolean }
  strimzi: { enabled: boolean }
}

/** The application's own values, which Git keeps. It contains no secrets. */
export const valuesFile = 'kubernetes.yaml'

export const chartFolder = join(repository, 'chart')

/** Returns the chart's values with the application's own values, as Helm merges them. */
export function readValues(folder = repository): Values {
  return merged(read(join(chartFolder, 'values.yaml')), ownValues(folder)) as unknown as Values
}

/** Returns the store that the application's own values name. */
export function namedStore(folder = repository): KubernetesStore | undefined {
  return (ownValues(folder) as Partial<Values>).store
}

type Tree = Record<string, unknown>

function ownValues(folder: string): Tree {
  const file = join(folder, valuesFile)
  return existsSync(file) ? read(file) : {}
}

function read(file: string): Tree {
  let values: unknown
  try {
    values = parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new CliError('usage', `${file} is invalid: ${(cause as Error).message}`, {
      nextStep: `correct ${file}`,
      cause,
    })
  }
  if (values === null) return {}
  if (isObject(values)) return values
  throw new CliError('usage', `${file} has no object`, { nextStep: 'see chart/values.yaml for the values' })
}

function merged(defaults: Tree, own: Tree): Tree {
  const entries = Object.entries(own).map(([key, value]) => {
    const before = defaults[key]
    return [key, isObject(before) && isObject(value) ? merged(before, value) : value]
  })
  return { ...defaults, ...Object.fromEntries(entries) }
}
