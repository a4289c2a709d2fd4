import type { QueueWatch } from '../sidecar/batcher.ts'
import { type Sidecar, SidecarError } from '../sidecar/sidecar.ts'
import type { ArrivalLists } from './arrival-lists.ts'
import { createIndependent } from './independent.ts'
import { createTransactional } from './transactional.ts'
import type { UnitOfWork, Work } from './work.ts'

const strategies: Record<string, typeof createIndependent> = {
  'state.sqlite': createTransactional,
  'state.postgresql': createIndependent,
  'state.mongodb': createIndependent,
}

/**
 * Reads, decides and writes in batches, as is best for the store that the sidecar names. One whose behaviour nobody has
 * tried is refused: what it takes for written may not be.
 */
export function createUnitOfWork(sidecar: Sidecar, lists: ArrivalLists, watch?: QueueWatch): UnitOfWork {
  // A promise, so that works that begin at the same time share one question and one strategy, with one list of each tenant.
  let strategy: Promise<UnitOfWork> | undefined

  async function choose(): Promise<UnitOfWork> {
    const type = await sidecar.storeType()
    const create = strategies[type]
    if (!create) throw new SidecarError('write state', unsuitable(type))
    return create(sidecar, lists, watch)
  }

  return async <R>(work: Work<R>) => {
    strategy ??= choose().catch((error: unknown) => {
      strategy = undefined
      throw error
    })
    return (await strategy)(work)
  }
}

/** What is wrong with a store of this type, in words; undefined when it can be used. */
export function unsuitable(type: string): string | undefined {
  if (type in strategies) return undefined
  const tried = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.keys(strategies))
  return `services here are not tried with a store of type ${type}; take ${tried}`
}
