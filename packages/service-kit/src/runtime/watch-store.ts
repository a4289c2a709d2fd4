import type { Sidecar } from '../sidecar/sidecar.ts'
import { createDocuments, type DocumentsOf } from '../state/documents.ts'
import { createStoreWatch, type StoreWatch } from '../state/store-watch.ts'
import type { Reactions } from '../stream/event-handler.ts'
import { withHandledLog } from '../stream/handled-log.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Trust } from '../trust/trust.ts'
import { codeVersion } from './code-version.ts'
import { createLostWrites } from './lost-writes.ts'
import type { BaseSettings } from './settings.ts'

interface WatchedService {
  root: URL
  settings: Pick<BaseSettings, 'App' | 'Stream'>
  sidecar: Sidecar
  trust: Trust
  log: Logger
  now: () => Date
  isShared: boolean
  /** The topics that the service consumes. */
  consumed: () => readonly string[]
  /** Creates the service's reactions of a rebuild, with these documents. */
  rebuildOn: (documents: DocumentsOf) => Reactions<boolean>
}

/** Creates the watch of a service's store. */
export function createWatchOf(service: WatchedService): StoreWatch {
  const { root, settings, sidecar, trust, log, now, isShared, consumed, rebuildOn } = service
  let code: string | undefined
  let topics: string[] | undefined
  const documents = createDocuments(sidecar, now, isShared)
  const comparison = createLostWrites({
    ...{ app: settings.App.Name, sidecar, documents, trust, rebuildOn, now },
    code() {
      // With separate tenants, documents have other keys.
      code ??= `${codeVersion(root)}${isShared ? '' : ' tenants'}`
      return code
    },
    withLog(work) {
      topics ??= Object.keys(rebuildOn(documents))
      return withHandledLog(settings.Stream, { app: settings.App.Name, topics, consumed: consumed() }, work)
    },
  })
  return createStoreWatch(sidecar, comparison, log)
}
