import { type FullEvent, someEvents, tenantOf } from '@orderflow/envelope-schema'
import type { Reactions } from '@orderflow/service-kit'
import { earlier, sparePartOf } from './domain/spare-part.ts'
import type { SparePartStore } from './store.ts'

/** Returns the reactions of spare-part-service to events. A rebuild uses the same reactions, because they only store documents. */
export function createReactions({ save }: Pick<SparePartStore, 'save'>): Reactions<boolean> {
  async function keep(event: FullEvent<'SomethingHappened'>): Promise<boolean> {
    const sparePart = sparePartOf(event)
    const { changed } = await save(tenantOf(event).id, sparePart.id, (stored) => earlier(stored, sparePart))
    return changed
  }

  return { [someEvents]: { SomethingHappened: keep } }
}
