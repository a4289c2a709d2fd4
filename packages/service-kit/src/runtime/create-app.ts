import type { RequestListener } from 'node:http'
import { deadLetterTopic } from '@orderflow/envelope'
import { createAuth } from '../auth/auth.ts'
import { createSweeping } from '../entity/sweeping.ts'
import type { Sidecar } from '../sidecar/sidecar.ts'
import { createDocuments, type DocumentsOf } from '../state/documents.ts'
import { entityForm } from '../state/position-mark.ts'
import type { StoreWatch } from '../state/store-watch.ts'
import { createAppChannel } from '../stream/consuming/app-channel.ts'
import { type Consumer, createConsumers } from '../stream/consuming/consumer.ts'
import type { Handle, Reactions } from '../stream/consuming/event-handler.ts'
import { createEarlierDeadLetters } from '../stream/dead-letters/earlier-dead-letters.ts'
import { createAppendTimes } from '../stream/log/shared-admin.ts'
import { createForward, createPublish, createPublisher } from '../stream/publishing/publish.ts'
import { createTopicLimit } from '../stream/publishing/topic-limit.ts'
import { handled, type Tracing, within } from '../telemetry/context.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { readTrust } from '../trust/read-trust.ts'
import { createWeb } from '../web/web.ts'
import type { Background, ServiceContext, ServiceDefinition, ServiceParts } from './define-service.ts'
import { createDryRun, type DryRunOptions, withDryRun } from './dry-run/dry-run.ts'
import { createStoredEffects } from './dry-run/stored-effects.ts'
import { createWatchOf } from './lost-writes/watch-store.ts'
import { createReadiness } from './readiness/readiness.ts'
import { createStreamCheck } from './readiness/stream-check.ts'
import { createWatchdog, groupReader, type Watchdog } from './readiness/watchdog.ts'
import { limitsOf } from './settings/settings.ts'

export type AppDependencies<S extends object> = Pick<ServiceContext<S>, 'settings' | 'log' | 'now' | 'newId'> & {
  sidecar: Sidecar
  tracing?: Tracing | undefined
}

/** A service whose listeners are not open yet. `web` is public, `channel` is for the sidecar, and `metrics` serves scrapers and dry runs. */
export interface App {
  web: RequestListener
  channel: RequestListener
  metrics: RequestListener
  backgrounds: readonly Background[]
  watchdog?: Watchdog
  storeWatch?: StoreWatch
}

/** Creates a service. @throws {TrustFileError} if its trust file is invalid */
export function createApp<S extends object>(
  service: ServiceDefinition<S>,
  { sidecar, tracing, ...dependencies }: AppDependencies<S>,
): App {
  const { settings, log, now } = dependencies
  const auth = createAuth(settings.Auth, now, (problem) => log.error(problem))
  const trust = readTrust(service.root, settings.Trust)
  const metrics = createMetrics()
  const publishRecord = createPublisher(sidecar, metrics.queue, createTopicLimit(settings.Stream))
  const rebuildOn = (documents: DocumentsOf) =>
    createParts(service, { ...context, documents, publish: noPublish, forward: noPublish }).rebuild
  const storeWatch = createWatchOf({
    ...{ root: service.root, settings, sidecar, trust, log, now, isShared: auth === undefined, rebuildOn },
    consumed: () => reads,
    form: () => formOf(parts),
  })
  const context = {
    ...dependencies,
    publish: createPublish(publishRecord, trust, tracing),
    forward: createForward(publishRecord, tracing),
    trust,
    documents: settings.State.Store
      ? createDocuments(storeWatch.sidecar, now, auth === undefined, {
          watch: metrics.queue('store'),
          generation: storeWatch.generation,
          report: (err) => log.error({ err }, 'a bug: the events of a document cannot be announced; this is repeated'),
        })
      : noDocuments,
  }
  const parts = createParts(service, context)
  const sweeping = settings.State.Store ? createSweeping(context.documents('').announcing, log) : undefined
  for (const { name, announceStored } of parts.entities ?? [])
    context.documents('').announcing.onVisit(name, announceStored)

  const { App: app, AppChannel: channel } = settings
  const reads = Object.keys(parts.reactions)
  const writes = [...service.produces, ...reads.map(deadLetterTopic)]
  const group = reads.length > 0 ? app.Name : undefined
  const refusals = new Set(Object.keys(service.refusals))
  const options = {
    ...{ app: app.Name, publish: publishRecord, trust, refusals, log, now, metrics, tracing },
    appendTimes: createAppendTimes(settings.Stream),
    earlierDeadLetters: createEarlierDeadLetters(settings.Stream, app.Name),
    isStored: createStoredEffects({ rebuildOn, documents: context.documents, trust }),
    blockedBy: storeWatch.blockedBy,
  }
  const consumers = createConsumers(parts.reactions, options)
  const reactionsOn: DryRunOptions['reactionsOn'] = (on) => createParts(service, { ...context, ...on }).reactions
  const dryRun =
    reads.length > 0
      ? createDryRun({ reactionsOn, documents: context.documents, trust, refusals, mask: log.mask })
      : undefined
  const warn = (warning: string) => log.warn(warning)
  const streamCheck = createStreamCheck(settings.Stream, { group, reads, writes }, { warn })
  const all = Object.values(consumers)
  const watchdog = createWatchdog({ read: groupReader(settings.Stream, app.Name, reads), log })
  const watched = ([topic, { deliver }]: [string, Consumer]) => [topic, watchdog.watched(topic, deliver)]
  const deliverers = Object.fromEntries(Object.entries(consumers).map(watched))
  const stalled = () => watchdog.stalled().values().next().value
  const stoppedBy = () => all.map(({ stoppedBy }) => stoppedBy()).find(Boolean) ?? stalled()
  const readiness = createReadiness(sidecar, streamCheck, stoppedBy, storeWatch)
  metrics.readiness(['sidecar', ...(settings.State.Store ? ['store'] : []), 'stream'], () => readiness())
  metrics.stalled(reads, watchdog.stalled)
  return {
    web: createWeb({
      title: app.Name,
      description: service.description,
      refusals: service.refusals,
      problemMembers: service.problemMembers ?? {},
      routes: parts.routes,
      files: parts.files,
      page: parts.page,
      hosts: settings.Web.Hosts,
      proxies: settings.Web.Proxies,
      limits: limitsOf(settings),
      tracePage: settings.Telemetry.TracePage,
      monitorPage: settings.Telemetry.MonitorPage,
      readiness,
      stalled,
      auth,
      tracing,
      log,
      metrics,
      redelivered: () => all.flatMap((consumer) => consumer.redelivered()),
    }),
    channel: createAppChannel({ token: channel.Token, consumers: deliverers, log }),
    metrics: withDryRun(metrics.listener, { dryRun, token: settings.DryRun.Token, log }),
    backgrounds: [parts.background, sweeping].filter((one) => one !== undefined),
    ...(group && { watchdog }),
    ...(group && settings.State.Store && { storeWatch }),
  }
}

const noPublish = async (): Promise<void> => {}

const noDocuments: DocumentsOf = () => {
  throw new Error('this service has no store: set State__Store')
}

/** The parts of a service, with the reactions of its entities. */
export interface AllParts extends ServiceParts {
  reactions: Reactions
  rebuild: Reactions<boolean>
}

/** Creates the parts of a service, such as routes and reactions. Dry runs and rebuilds call it with a different context. */
export function createParts<S extends object>(
  { create }: ServiceDefinition<S>,
  context: Omit<ServiceContext<S>, 'app'>,
): AllParts {
  const { Id: id, Name: name } = context.settings.App
  return withEntities(create({ ...context, app: { id, name } }))
}

/** Returns the form that the documents of a service must have; undefined for a service without entities. */
export const formOf = ({ entities = [] }: Pick<AllParts, 'entities'>): string | undefined =>
  entities.length > 0 ? entityForm : undefined

/** Adds the reactions of the service's entities to its other reactions. The entities of the result have no reactions, so the test kit can give the result again. */
export function withEntities(parts: ServiceParts): AllParts {
  const { entities = [], reactions = {}, rebuild = {} } = parts
  return {
    ...parts,
    entities: entities.map((entity) => ({ ...entity, reactions: {}, rebuild: {} })),
    reactions: merged<unknown>([...entities.map((entity) => entity.reactions), reactions]),
    rebuild: merged<boolean>([...entities.map((entity) => entity.rebuild), rebuild]),
  }
}

/** Merges handlers by topic and event. Several handlers of an event run in sequence; the result is that something changed. */
function merged<R>(all: readonly Reactions<R>[]): Reactions<R> {
  const topics = new Map<string, Record<string, Handle<R>>>()
  for (const [topic, handlers] of all.flatMap((one) => Object.entries(one))) {
    const known = topics.get(topic) ?? {}
    for (const [name, handle] of Object.entries(handlers as Record<string, Handle<R>>)) {
      const first = known[name]
      known[name] = first ? inSequence(first, handle) : handle
    }
    topics.set(topic, known)
  }
  return Object.fromEntries(topics) as Reactions<R>
}

function inSequence<R>(first: Handle<R>, second: Handle<R>): Handle<R> {
  return (event) =>
    within({ document: undefined, ...handled(), run: undefined, passOn: undefined }, async () => {
      const [one, other] = [await first(event), await second(event)]
      return one === false ? other : one
    })
}
