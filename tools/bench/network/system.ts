import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessSpec } from '@orderflow/cli'
import { repository } from '@orderflow/cli'
import type { BenchStack } from '../support/bench-stack.ts'
import { argumentsIn, paymentReplica } from '../support/programs.ts'
import type { Stream } from '../support/stream.ts'
import type { DelayProxy } from './delay-proxy.ts'
import { databaseOf, type Store } from './store.ts'

/** The services of a checkout, with their store. */
export interface Variant {
  name: string
  /** The folder of the checkout, which may be an older one. */
  root: string
  store: Store | 'sqlite'
  /** The number of a sidecar’s connections to PostgreSQL, if it differs from the number in the component. */
  pool?: number
}

export type StoredVariant = Variant & { store: Store }

export interface Site {
  stack: BenchStack
  stream: Stream
  store: Store
  proxy: DelayProxy
}

/** Returns the number of members that one sidecar adds to a consumer group. */
export function consumersOf({ root }: Variant): number {
  return readFileSync(join(root, 'components/kafka.yaml'), 'utf8').match(/^ {2}name: pubsub-\d+$/gm)?.length ?? 0
}

export async function replica(site: Site, variant: Variant, number: number): Promise<ProcessSpec[]> {
  return (await paymentReplica(site.stack, number)).map((spec) => specOf(site, variant, spec))
}

export function specOf({ stack, proxy }: Site, variant: Variant, spec: ProcessSpec): ProcessSpec {
  const args = argumentsIn(variant.root, spec)
  if (spec.env.State__ConnectionString === undefined) return { ...spec, args }
  const { store } = variant
  const usual = join(variant.root, 'components', stack.plan.store)
  const [folder, connectionString] =
    store === 'sqlite'
      ? [join(variant.root, 'components/sqlite'), sqliteFile(stack)]
      : [componentFolder(stack, store, variant.pool), store.uriBy(proxy.address)]
  return {
    ...spec,
    args: args.map((arg) => (arg === usual ? folder : arg)),
    env: { ...spec.env, State__ConnectionString: connectionString },
  }
}

export const sqliteFile = (stack: BenchStack): string => stack.database('payment-sqlite')

/** Empties a variant’s store. Stop its sidecars first. */
export async function empty(stack: BenchStack, variant: Variant): Promise<void> {
  if (variant.store !== 'sqlite') return variant.store.empty()
  for (const suffix of ['', '-wal', '-shm']) rmSync(sqliteFile(stack) + suffix, { force: true })
}

/** Creates a folder with a copy of the component that uses the benchmark’s databases and the given size of the pool. */
function componentFolder({ plan }: BenchStack, { kind }: Store, pool: number | undefined): string {
  const folder = join(plan.folder, 'components', `${kind}-${pool ?? 'usual'}`)
  mkdirSync(folder, { recursive: true })
  const component = readFileSync(join(repository, 'components', kind, 'statestore.yaml'), 'utf8')
  writeFileSync(join(folder, 'statestore.yaml'), componentWith(component, pool))
  return folder
}

/** @throws {Error} if the component lacks a text to replace */
export function componentWith(component: string, pool: number | undefined): string {
  const changes: [from: RegExp, to: string][] = [[/"\{appID\}"/, `"${databaseOf('{appID}')}"`]]
  if (pool !== undefined) changes.push([/(name: maxConns\n\s+value:) "\d+"/, `$1 "${pool}"`])
  return changes.reduce((text, [from, to]) => {
    if (!from.test(text)) throw new Error(`the component does not contain ${from}`)
    return text.replace(from, to)
  }, component)
}
