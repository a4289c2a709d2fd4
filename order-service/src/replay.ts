import { createArrivalList, createReader, createUnitOfWork } from '@orderflow/service-kit'
import type { RebuildDependencies } from '@orderflow/service-kit/operations'
import type { Settings } from './settings.ts'
import { createStore } from './store.ts'
import { createHandlers } from './subscriptions.ts'

/** How order-service rebuilds its store from the log: as it takes events in, for a fact is made of its event alone. */
export function createReplay({ settings, sidecar, now }: RebuildDependencies<Settings>) {
  const commit = createUnitOfWork(sidecar, createArrivalList(now))
  return createHandlers(createStore({ id: settings.App.Id }, createReader(sidecar), commit))
}
