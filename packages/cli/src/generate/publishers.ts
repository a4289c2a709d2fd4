import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { outsideTopics, type Service, services } from '../lib/services.ts'

/**
 * components/trust/publishers.json: what each service publishes, by the AppId in its settings, and which topics others may write, too. A
 * service has no other way to know the AppIds of the others: an image has the settings of one service.
 */
export function publishersFile(): string {
  const own = services.map((service) => [appIdOf(service), { name: service.name, publishes: service.publishes }])
  const content = {
    $comment: 'Generated from services.json and the AppIds of appsettings.json by make generate.',
    outside: outsideTopics,
    services: Object.fromEntries(own),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

/** The AppId in a service's settings. */
export function appIdOf({ folder }: Service): string {
  const { App } = JSON.parse(readFileSync(join(repository, folder, 'appsettings.json'), 'utf8')) as {
    App: { Id: string }
  }
  return App.Id.toLowerCase()
}
