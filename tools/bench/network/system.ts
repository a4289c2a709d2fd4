import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessSpec } from '@orderflow/cli'
import { repository } from '@orderflow/cli'
import type { BenchStack } from '../support/bench-stack.ts'
import { argumentsIn, paymentReplica } from '../support/programs.ts'
import type { Stream } from '../support/stream.ts'
import type { DelayProxy } from './delay-proxy.ts'
import { databaseOf, type Store } from './store.ts'

/** What is measured: the services of a checkout, and how their sidecars reach the store. */
export interface Variant {
  name: string
  /** The checkout: this one, or one of the state before. */
  root: string
  store: Store | 'sqlite'
  /** Connections of a sidecar to PostgreSQL; undefined for as many as the component says. */
  pool?: number
}

/** One whose documents are on a database server. */
export type StoredVariant = Variant & { store: Store }

/** What all of it runs in. */
export interface Site {
  stack: BenchStack
  stream: Stream
  store: Store
  /** Before the store. */
  proxy: DelayProxy
}

/** How many components a variant's sidecar gets what is urgent through: as many members of its group. */
export function consumersOf({ root }: Variant): number {
  return readFileSync(join(root, 'components/kafka.yaml'), 'utf8').match(/^ {2}name: pubsub-\d+$/gm)?.length ?? 0
}

/** payment-service and its sidecar, once more. */
export async function replica(site: Site, variant: Variant, number: number): Promise<ProcessSpec[]> {
  return (await paymentReplica(site.stack, number)).map((spec) => specOf(site, variant, spec))
}

/** How a process of the stack is started as the variant has it. */
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

/** Empties a variant's store. No sidecar of it may run. */
export async function empty(stack: BenchStack, variant: Variant): Promise<void> {
  if (variant.store !== 'sqlite') return variant.store.empty()
  for (const suffix of ['', '-wal', '-shm']) rmSync(sqliteFile(stack) + suffix, { force: true })
}

/** A folder with this checkout's component, which has databases of the benchmark's own and, perhaps, a pool of another size. */
function componentFolder({ plan }: BenchStack, { kind }: Store, pool: number | undefined): string {
  const folder = join(plan.folder, 'components', `${kind}-${pool ?? 'usual'}`)
  mkdirSync(folder, { recursive: true })
  const component = readFileSync(join(repository, 'components', kind, 'statestore.yaml'), 'utf8')
  writeFileSync(join(folder, 'statestore.yaml'), componentWith(component, pool))
  return folder
}

/** @throws {Error} when the component does not have what is to be replaced */
export function componentWith(component: string, pool: number | undefined): string {
  const changes: [from: RegExp, to: string][] = [[/"\{appID\}"/, `"${databaseOf('{appID}')}"`]]
  if (pool !== undefined) changes.push([/(name: maxConns\n\s+value:) "\d+"/, `$1 "${pool}"`])
  return changes.reduce((text, [from, to]) => {
    if (!from.test(text)) throw new Error(`the component has no ${from}`)
    return text.replace(from, to)
  }, component)
}
