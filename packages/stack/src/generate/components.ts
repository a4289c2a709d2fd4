import { join } from 'node:path'
import { repository } from '../application/paths.ts'
import {
  consumerComponents,
  entryOf,
  outsideEvents,
  publishingComponent,
  type Service,
  services,
  storedServices,
  type Urgency,
} from '../application/services.ts'
import { filledIn, generated, generatedFrom } from '../application/templates.ts'
import { declaredSettings } from '../application/variables.ts'
import { CliError } from '../base/error.ts'

/** Returns components/kafka.yaml. Only the first component has the comments of the template. */
export function kafkaFile(): string {
  const components = [publishingComponent, ...consumerComponents]
  const documents = components.map((name, index) => {
    const suffix = name.slice(publishingComponent.length)
    const text = filledIn('components/kafka.yaml', { name, suffix, scopes: scopesOf(services) })
    return index === 0 ? text : text.replaceAll(/^ *#.*\n/gm, '')
  })
  return `${generated(`Contains ${components.length} Kafka components, which differ only in name and client id. A component makes one delivery at a time for all its
topics and partitions. Urgent events therefore come through the components ${consumerComponents[0]} to ${consumerComponents.at(-1)}, which share the partitions. ${publishingComponent} publishes, and
delivers other events (docs/adr/0018). If ${publishingComponent} cannot publish, a service publishes through other components (docs/adr/0012).`)}${documents.join('---\n')}`
}

/** Returns the end of a resource: the services whose sidecars load it. */
export function scopesOf(users: readonly Service[]): string {
  return `scopes:\n${users.map(({ name }) => `  - ${name}\n`).join('')}`
}

export function resiliencyFile(): string {
  const rules = '        inbound:\n          retry: forever\n          timeout: handler\n'
  const targets = [publishingComponent, ...consumerComponents].map((name) => `      ${name}:\n${rules}`)
  return generatedFrom('components/resiliency.yaml', { targets: targets.join(''), scopes: scopesOf(services) })
}

/** Returns components/postgresql/statestore-save.yaml. Its functions are in packages/service-kit/src/sidecar/save-documents.ts. */
export const savingComponentFile = (): string =>
  generatedFrom('components/statestore-save.yaml', { scopes: scopesOf(storedServices) })

/** The longest time that a delivery waits for more records, in milliseconds. */
const awaitMs: Record<Urgency, number> = { prompt: 60, background: 200 }

/** Returns components/subscriptions.<service>.yaml: the components that deliver each consumed topic. */
export function subscriptionsFile(service: Service): string {
  const documents = Object.entries(service.consumes).flatMap(([topic, urgency]) =>
    urgency === 'prompt'
      ? consumerComponents.map((name, index) => subscription(service, topic, urgency, name, `-${index + 1}`))
      : [subscription(service, topic, urgency, publishingComponent, '')],
  )
  return `${generated(`The topics of ${service.name} and their components in kafka.yaml. A sidecar loads the subscriptions whose scopes name its app-id.

Urgent topics (prompt) use ${consumerComponents.length} components, which share the partitions, so deliveries overlap (docs/adr/0018). Other topics (background) use
one component and larger batches.

The sidecar delivers the records of a partition when it has maxMessagesCount of them, or when the partition's ticker fires. The ticker
fires every maxAwaitDurationMs, so an event waits half of this time on average.
Only maxMessagesCount limits the size of a delivery.`)}${documents.join('---\n')}`
}

function subscription(service: Service, topic: string, urgency: Urgency, component: string, suffix: string): string {
  return filledIn('components/subscription.yaml', {
    name: `${service.role}-${topic}${suffix}`,
    component,
    topic,
    awaitMs: awaitMs[urgency],
    scopes: scopesOf([service]),
  })
}

/**
 * Returns components/trust/publishers.json: the events of services by AppId, and the events of outside publishers by topic.
 * @throws {CliError} `settings` if two services have the same AppId
 */
export function publishersFile(all = services): string {
  for (const [index, service] of all.entries()) {
    const other = all.slice(0, index).find((each) => appIdOf(each) === appIdOf(service))
    if (!other) continue
    throw new CliError('settings', `${service.name} has the AppId of ${other.name}`, {
      nextStep: `write a new GUID into App.Id of ${service.folder}/appsettings.json`,
    })
  }
  const own = all.map((service) => [appIdOf(service), { name: service.name, publishes: service.publishes }])
  const content = {
    $comment: 'Generated from services.json and the AppIds of appsettings.json by make generate.',
    outside: outsideEvents,
    services: Object.fromEntries(own),
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

export const appIdOf = ({ folder }: Service): string =>
  entryOf(declaredSettings(join(repository, folder)), 'App__Id').toLowerCase()
