import { type FullEvent, someEvents, tenantOf } from '@orderflow/envelope-schema'
import type { Reactions } from '@orderflow/service-kit'
import { earlier, sparePartOf } from './domain/spare-part.ts'
import type { SparePartStore } from './store.ts'

/**
 * What spare-part-service does with each topic's events. It keeps what they say and no more, so it rebuilds its store
 * in the same way.
 */
export function createReactions({ save }: Pick<SparePartStore, 'save'>): Reactions<boolean> {
  async function keep(event: FullEvent<'SomethingHappened'>): Promise<boolean> {
    const told = sparePartOf(event)
    const { changed } = await save(tenantOf(event).id, told.id, (known) => earlier(known, told))
    return changed
  }

  return { [someEvents]: { SomethingHappened: keep } }
}
