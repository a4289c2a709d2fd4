import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessSpec } from '@orderflow/stack/internals'
import type { BenchStack } from '../support/bench-stack.ts'
import { argumentsIn, paymentReplica } from '../support/programs.ts'
import type { Stream } from '../support/stream.ts'
import type { DelayProxy } from './delay-proxy.ts'
import type { Store } from './store.ts'

/** The services of a checkout, with their store. */
export interface Variant {
  name: string
  /** The folder of the checkout, which may be an older one. */
  root: string
  store: Store | 'sqlite'
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
      : [join(variant.root, 'components', store.kind), store.uriBy(proxy.address, appIdIn(spec))]
  return {
    ...spec,
    args: args.map((arg) => (arg === usual ? folder : arg)),
    env: { ...spec.env, State__ConnectionString: connectionString },
  }
}

const appIdIn = ({ args }: ProcessSpec) => args[args.indexOf('--app-id') + 1] ?? ''

export const sqliteFile = (stack: BenchStack): string => stack.database('payment-sqlite')

/** Empties a variant’s store. Stop its sidecars first. */
export async function empty(stack: BenchStack, variant: Variant): Promise<void> {
  if (variant.store !== 'sqlite') return variant.store.empty()
  for (const suffix of ['', '-wal', '-shm']) rmSync(sqliteFile(stack) + suffix, { force: true })
}
