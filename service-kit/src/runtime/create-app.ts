import type { RequestListener } from 'node:http'
import { createAuth } from '../auth/auth.ts'
import type { Sidecar } from '../sidecar/sidecar.ts'
import { createDocuments } from '../state/documents.ts'
import { createAppChannel } from '../stream/app-channel.ts'
import { createConsumers } from '../stream/consumer.ts'
import { createPublisher, type Publish, recordOf } from '../stream/publisher.ts'
import { createWeb } from '../web/web.ts'
import type { ServiceContext, ServiceDefinition, ServiceParts } from './define-service.ts'
import { createReadiness } from './readiness.ts'
import { createStreamCheck } from './stream-check.ts'

/** What a service runs on; a test passes its own. */
export type AppDependencies<S extends object> = Pick<ServiceContext<S>, 'settings' | 'log' | 'now' | 'newId'> & {
  sidecar: Sidecar
}

/** A service without its listeners: `web` for the public, `channel` for the sidecar. */
export interface App {
  web: RequestListener
  channel: RequestListener
}

/** Makes a service of its definition. */
export function createApp<S extends object>(
  service: ServiceDefinition<S>,
  { sidecar, ...dependencies }: AppDependencies<S>,
): App {
  const { settings, log, now } = dependencies
  const auth = createAuth(settings.Auth, now, (err) => log.error({ err }, 'the API keys are those of before'))
  const publishRecord = createPublisher(sidecar)
  const publish: Publish = (topic, key, envelope) => publishRecord(recordOf(topic, key, envelope))
  const parts = createParts(service, {
    ...dependencies,
    publish,
    documents: createDocuments(sidecar, now, auth === undefined),
  })

  const { App: app, AppChannel: channel } = settings
  const group = Object.keys(parts.reactions).length > 0 ? app.Name : undefined
  const refusals = new Set(Object.keys(service.refusals))
  const consumers = createConsumers(parts.reactions, { app: app.Name, publish: publishRecord, refusals, log, now })
  return {
    web: createWeb({
      title: app.Name,
      description: service.description,
      routes: parts.routes,
      refusals: service.refusals,
      problemMembers: service.problemMembers ?? {},
      readiness: createReadiness(sidecar, createStreamCheck(settings.Stream, group)),
      auth,
      log,
    }),
    channel: createAppChannel({ token: channel.Token, consumers, log }),
  }
}

/** What a service does, with whatever it is to do it by. */
export function createParts<S extends object>(
  { create }: ServiceDefinition<S>,
  context: Omit<ServiceContext<S>, 'app'>,
): ServiceParts {
  const { Id: id, Name: name } = context.settings.App
  return create({ ...context, app: { id, name } })
}
