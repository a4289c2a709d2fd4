import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { contractFolder } from '@orderflow/envelope'
import { createDocuments } from '../../state/documents.ts'
import { createStoreWatch, type StoreWatch } from '../../state/store-watch.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { BaseSettings } from '../settings/settings.ts'
import { withHandledLog } from './handled-log.ts'
import { createLostWrites, type LostWritesOptions } from './lost-writes.ts'

interface WatchedService extends Pick<LostWritesOptions, 'sidecar' | 'trust' | 'now' | 'form' | 'rebuildOn'> {
  root: URL
  settings: Pick<BaseSettings, 'App' | 'Stream'>
  log: Logger
  isShared: boolean
  /** The topics that the service consumes. */
  consumed: () => readonly string[]
}

/** Creates the watch of a service's store. */
export function createWatchOf(service: WatchedService): StoreWatch {
  const { root, settings, sidecar, log, now, isShared, consumed, rebuildOn } = service
  let code: string | undefined
  let topics: string[] | undefined
  const documents = createDocuments(sidecar, now, isShared)
  const comparison = createLostWrites({
    ...{ ...service, app: settings.App.Name, documents },
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

/** Returns a text that changes with the code that decides about documents: that of the service, of its contract and of this package. */
function codeVersion(root: URL): string {
  const hash = createHash('sha256')
  for (const folder of [new URL('src/', root), contractFolder, new URL('../..', import.meta.url)]) {
    const path = fileURLToPath(folder)
    for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted()) {
      if (/\.(ts|js|json)$/.test(name) && !name.includes('node_modules')) hash.update(readFileSync(`${path}/${name}`))
    }
  }
  return hash.digest('base64url')
}
