import { remembered } from '../remembered.ts'
import type { QueueWatch } from '../sidecar/batcher.ts'
import { callSidecar } from '../sidecar/handler-time.ts'
import { type Sidecar, SidecarError, type Store } from '../sidecar/sidecar.ts'
import type { ArrivalLists } from './arrival-list.ts'
import type { UnitOfWork, Work } from './batch.ts'
import { createIndependent } from './independent.ts'
import { createTransactional } from './transactional.ts'

const strategies: Record<string, typeof createIndependent> = {
  'state.sqlite': createTransactional,
  'state.postgresql': createIndependent,
  'state.mongodb': createIndependent,
}

/** Creates the unit of work with the strategy for the store's type. It refuses untested types, which may lose acknowledged writes. */
export function createUnitOfWork(sidecar: Sidecar, lists: ArrivalLists, watch?: QueueWatch): UnitOfWork {
  // Concurrent operations share one strategy.
  const strategy = remembered(async () => {
    const store = await sidecar.store()
    const create = strategies[store.type]
    if (!create) throw new SidecarError('write state', unsuitable(store))
    return create(sidecar, lists, watch, store)
  })
  return async <R>(work: Work<R>) => (await callSidecar(strategy))(work)
}

/** Returns the reason why a store type is unsuitable; undefined for a suitable type. */
export function unsuitable({ type }: Pick<Store, 'type'>): string | undefined {
  if (type in strategies) return undefined
  const tried = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.keys(strategies))
  return `the store type ${type} is not tested with these services; use ${tried}`
}
