import type { EntityContext } from '../../src/entity/context.ts'
import { rebuildStore } from '../../src/operations/rebuild-store.ts'
import { createDocuments, type DocumentsOf } from '../../src/state/documents.ts'
import type { Reactions } from '../../src/stream/consuming/event-handler.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import type { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { app } from './account.ts'

/**
 * Returns a function that rebuilds the entities of a store from the events that another store's service published.
 * @param open opens the entities, as a service does
 */
export const rebuildOf =
  (open: (context: EntityContext) => { rebuild: Reactions<boolean> }) =>
  async (from: FakeSidecar, to: FakeSidecar): Promise<void> => {
    const log = new FakeLog()
    for (const { topic, key, value } of from.published) log.append({ topic, key, value: Buffer.from(value).toString() })
    const openOn = (documents: DocumentsOf) =>
      open({
        ...{ app, documents, publish: () => Promise.reject(new Error('a rebuild publishes nothing')) },
        ...{ now: () => new Date(0), newId: () => '', log: capturedLog().log },
      })
    const documentsOf = createDocuments(to, () => new Date(0))
    await rebuildStore({
      ...{ app: app.name, trust: { requireGenuine() {} }, refusals: new Set<string>() },
      ...{ log, documentsOf, isShared: false },
      rebuildOn: (documents) => openOn(documents).rebuild,
      ...{ onProgress() {}, onWait() {}, onStored() {}, untilPublished: async () => {} },
    })
    await documentsOf('').firing.leave()
  }
