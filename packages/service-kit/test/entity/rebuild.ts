import type { EntityDefinition } from '../../src/entity/entity.ts'
import { openEntity } from '../../src/entity/open-entity.ts'
import { rebuildStore } from '../../src/operations/rebuild-store.ts'
import { createDocuments, type DocumentsOf } from '../../src/state/documents.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import type { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { app } from './account.ts'

/** Returns a function that rebuilds the entities of a store from the events that another store's service published. */
export const rebuildOf =
  // biome-ignore lint/suspicious/noExplicitAny: entities of all types
    (definition: EntityDefinition<any, any, any, any, any, any, any, any>) =>
    async (from: FakeSidecar, to: FakeSidecar): Promise<void> => {
      const log = new FakeLog()
      for (const { topic, key, value } of from.published)
        log.append({ topic, key, value: Buffer.from(value).toString() })
      const openOn = (documents: DocumentsOf) =>
        openEntity(definition, {
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
