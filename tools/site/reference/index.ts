import { testedServices } from '@orderflow/test-kit'
import type { Page } from '../pages.ts'
import { httpPage } from './http.ts'
import { metricsPage } from './metrics.ts'
import { settingsPage } from './settings.ts'

/** Returns the pages that are generated from the code. */
export async function referencePages(): Promise<Page[]> {
  const services = await testedServices()
  return [settingsPage(services), await httpPage(services), metricsPage()]
}
