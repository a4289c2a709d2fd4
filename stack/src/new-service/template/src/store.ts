import type { Documents, Page, PageOptions } from '@orderflow/service-kit'
import type { SparePart } from './domain/spare-part.ts'

/** The only document of an order: what is known, and its slot in the list. */
interface SparePartDocument {
  item: SparePart
  listed: string
}

/** More than a document has, whatever the event says. */
const documentBytes = 1_000

export interface SparePartStore {
  /**
   * Stores what `choose` makes of what is known; on what another writer left, when that one was faster. Answers what is stored then,
   * and whether it changed.
   */
  save(id: string, choose: (known: SparePart | undefined) => SparePart): Promise<{ item: SparePart; changed: boolean }>
  find(id: string): Promise<SparePart | undefined>
  page(options: PageOptions): Promise<Page<SparePart>>
}

const keyOf = (id: string) => `spare-part/${id}`

export function createStore(documents: Documents): SparePartStore {
  async function load(ids: string[]): Promise<({ item: SparePart; listed: string } | undefined)[]> {
    const found = await documents.read(ids.map(keyOf))
    return ids.map((id) => {
      const document = found.get(keyOf(id))?.value as SparePartDocument | undefined
      return document && { item: document.item, listed: document.listed }
    })
  }

  return {
    save(id, choose) {
      return documents.change({
        keys: [keyOf(id)],
        bytes: documentBytes,
        decide(view) {
          const known = view.get<SparePartDocument>(keyOf(id))
          const item = choose(known?.item)
          const changed = item !== known?.item
          if (changed) view.write(keyOf(id), { item, listed: known?.listed ?? view.list(id) })
          return { item, changed }
        },
      })
    },

    async find(id) {
      const [found] = await load([id])
      return found?.item
    },

    page: (options) => documents.page(options, load),
  }
}
