import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { testedServices } from '@orderflow/test-kit'
import type { Page } from '../pages.ts'
import { alertsPage } from './alerts.ts'
import { commandsPage } from './commands.ts'
import { eventsPage } from './events.ts'
import { httpPage } from './http.ts'
import { referencePage } from './markdown.ts'
import { metricsPage } from './metrics.ts'
import { packagePages } from './packages.ts'
import { type Defaults, settingsOf, settingsPage } from './settings.ts'

/** Returns the pages that are generated from the code of this checkout. */
export async function referencePages(): Promise<Page[]> {
  const services = await testedServices()
  const settings = services.map((service) => {
    const defaults = readFileSync(join(repository, service.folder, 'appsettings.json'), 'utf8')
    return settingsOf(service, JSON.parse(defaults) as Defaults)
  })
  const pages = [
    await commandsPage(),
    settingsPage(settings),
    eventsPage(),
    ...(await Promise.all(services.map(httpPage))),
    await metricsPage(),
    alertsPage(),
    ...packagePages(),
  ]
  return pages.map(referencePage)
}
