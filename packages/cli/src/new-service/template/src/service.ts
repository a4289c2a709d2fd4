import { defineService } from '@orderflow/service-kit'
import { createReactions } from './reactions.ts'
import { sparePartRoutes } from './routes/spare-parts.ts'
import { createStore } from './store.ts'

export const service = defineService({
  root: new URL('..', import.meta.url),
  description: 'Spare parts: one for each SomethingHappened.',
  produces: [],
  refusals: { 'not-found': { status: 404, title: 'Spare part not found' } },
  create({ documents }) {
    const store = createStore(documents)
    const reactions = createReactions(store)
    return { routes: sparePartRoutes(store), reactions, rebuild: reactions }
  },
})
