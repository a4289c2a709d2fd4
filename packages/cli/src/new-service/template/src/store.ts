import type { Documents, DocumentsOf, PageOptions } from '@orderflow/service-kit'
import type { SparePart } from './domain/spare-part.ts'

/** The document of each ThingId, with its slot in the list. */
interface SparePartDocument {
  item: SparePart
  listed: string
}

export type SparePartStore = ReturnType<typeof createStore>

const keyOf = (id: string) => `spare-part/${id}`

export function createStore(documentsOf: DocumentsOf) {
  async function load(ids: string[], read: Documents['read']) {
    const found = await read(ids.map(keyOf))
    return ids.map((id) => found.get(keyOf(id))?.value as SparePartDocument | undefined)
  }

  return {
    /** Stores the result of `choose`, which receives the stored item. Returns the item that is then stored, and true if it changed. */
    save: (tenant: string, id: string, choose: (known: SparePart | undefined) => SparePart) =>
      documentsOf(tenant).change({
        key: keyOf(id),
        bytes: 1_000,
        decide(view) {
          const known = view.get<SparePartDocument>(keyOf(id))
          const item = choose(known?.item)
          const changed = item !== known?.item
          if (changed) view.write({ item, listed: known?.listed ?? view.list(id) })
          return { item, changed }
        },
      }),
    find: async (tenant: string, id: string) => (await load([id], documentsOf(tenant).read))[0]?.item,
    page: (tenant: string, options: PageOptions) => documentsOf(tenant).page(options, load),
  }
}
