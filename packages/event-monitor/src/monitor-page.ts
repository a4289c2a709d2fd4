import { existsSync } from 'node:fs'
import type { ServiceParts } from '@orderflow/service-kit'
import { pagePolicy, readPage } from './page-files.ts'

/** The page, where it was built; else the page of the operations is all there is. */
export function monitorPage(): Pick<ServiceParts, 'page'> {
  if (!existsSync(new URL('../dist/manifest.json', import.meta.url))) return {}
  return { page: { policy: pagePolicy, read: readPage() } }
}
