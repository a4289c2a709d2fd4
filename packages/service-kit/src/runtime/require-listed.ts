import { eventNames } from '@orderflow/envelope'
import { topicOfEvent } from '@orderflow/envelope/kafka'
import { ApplicationError } from '../application/file.ts'
import { callAnswered, deadlinePassed } from '../entity/kit-events.ts'
import type { Trust } from '../trust/trust.ts'
import type { ServiceParts } from './define-service.ts'
import type { BaseSettings } from './settings/settings.ts'

/** The problem of an entity whose service lacks the setting that adds an event of the kit. */
const missing: Record<string, (entity: string) => string> = {
  [deadlinePassed]: (entity) => `deadlines: must be true, because ${entity} has deadlines or schedules`,
  [callAnswered]: (entity) => `calls: must be true, because ${entity} calls other systems`,
}

/**
 * Checks that services.json lists the events of a service's entities. Otherwise the service would store events that it cannot publish.
 * @throws {ApplicationError}
 */
export function requireListed(
  { entities = [] }: Pick<ServiceParts, 'entities'>,
  { Id, Name: AppName }: BaseSettings['App'],
  { publishes }: Trust,
): void {
  const isListed = (Name: string, topic = topicOfEvent(Name)) =>
    topic !== undefined &&
    publishes({ AppId: Id.toLowerCase(), AppName, Name }, topic) &&
    eventNames.some((name) => name === Name)
  const problems = entities.flatMap(({ name, events }) =>
    events
      .filter((event) => !isListed(event))
      .map((event) =>
        missing[event]
          ? `/services/${AppName}/${missing[event](name)}; change it, then run make generate`
          : `/services/${AppName}/produces: ${event} of ${name} is missing; add it to its topic, then run make generate`,
      ),
  )
  if (problems.length > 0) throw new ApplicationError('services.json', problems)
}
