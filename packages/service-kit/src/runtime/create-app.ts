import type { RequestListener } from 'node:http'
import { deadLetterTopic } from '@orderflow/envelope'
import { topicOfEvent } from '@orderflow/envelope/kafka'
import { createAuth } from '../auth/auth.ts'
import { callUnknown } from '../entity/calls.ts'
import { deadlineRoutes } from '../entity/deadline-routes.ts'
import { callAnswered, deadlinePassed } from '../entity/kit-events.ts'
import type { Sidecar } from '../sidecar/sidecar.ts'
import { createDocuments, type Documents, type DocumentsOf } from '../state/documents.ts'
import { entityForm } from '../state/position-mark.ts'
import type { StoreWatch } from '../state/store-watch.ts'
import { createAppChannel } from '../stream/consuming/app-channel.ts'
import { type Consumer, createConsumers } from '../stream/consuming/consumer.ts'
import type { Handle, Reactions } from '../stream/consuming/event-handler.ts'
import { createEarlierDeadLetters } from '../stream/dead-letters/earlier-dead-letters.ts'
import type { LogClock } from '../stream/log/log-clock.ts'
import { createAppendTimes, createLag, createRetention } from '../stream/log/shared-admin.ts'
import { createForward, createPublish, createPublisher } from '../stream/publishing/publish.ts'
import { createTopicLimit } from '../stream/publishing/topic-limit.ts'
import { clockTopic } from '../stream/publishing/topic-settings.ts'
import { handled, type Tracing, within } from '../telemetry/context.ts'
import type { Logger } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'
import { readTrust } from '../trust/read-trust.ts'
import { createWeb } from '../web/web.ts'
import type { Background, ServiceContext, ServiceDefinition, ServiceParts } from './define-service.ts'
import { createDryRun, type DryRunOptions, withDryRun } from './dry-run/dry-run.ts'
import { createStoredEffects } from './dry-run/stored-effects.ts'
import { createWatchOf } from './lost-writes/watch-store.ts'
import { createKeptDeadlines, type KeptDeadlines } from './readiness/kept-deadlines.ts'
import { createReadiness } from './readiness/readiness.ts'
import { createStreamCheck } from './readiness/stream-check.ts'
import { createWatchdog, groupReader, type Watchdog } from './readiness/watchdog.ts'
import { repeating } from './repeating.ts'
import { requireListed } from './require-listed.ts'
import { limitsOf } from './settings/settings.ts'

export type AppDependencies<S extends object> = Pick<ServiceContext<S>, 'settings' | 'log' | 'now' | 'newId'> & {
  sidecar: Sidecar
  tracing?: Tracing | undefined
  /** The clock of the log, for a service with deadlines or calls. The default is the clock of `now`. */
  clock?: LogClock
  /** Returns the time since any fixed moment in milliseconds. It must ignore changes of the system's clock. */
  elapsed?: () => number
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
  { sidecar, tracing, clock: logClock, elapsed = () => performance.now(), ...dependencies }: AppDependencies<S>,
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
  /** The clock of deadlines and calls; undefined for a service without both. */
  let clock: LogClock | undefined
  const context = {
    ...dependencies,
    tracing,
    now: () => (clock ?? { now }).now(),
    publish: createPublish(publishRecord, trust, tracing),
    forward: createForward(publishRecord, tracing),
    trust,
    documents: settings.State.Store
      ? createDocuments(storeWatch.sidecar, now, auth === undefined, {
          watch: metrics.queue('store'),
          generation: storeWatch.generation,
          elapsed,
          report: (err) =>
            log.error({ err }, 'a bug: events or deadlines of a document cannot be announced; this is repeated'),
          time: () => clock?.fresh(),
          lag: createLag(settings.Stream, settings.App.Name, topicOfEvent(deadlinePassed) ?? ''),
        })
      : noDocuments,
  }
  const parts = createParts(service, context, (own) => requireListed(own, settings.App, trust))
  /** The topics of deadlines and calls, if entities have some. */
  const timed = [deadlinePassed, callAnswered].flatMap((event) =>
    parts.entities?.some(({ events }) => events.includes(event)) ? (topicOfEvent(event) ?? []) : [],
  )
  if (timed.length > 0) clock = logClock ?? { now, fresh: () => now().getTime(), tick: async () => {} }
  const kept = createKeptDeadlines({
    read: createRetention(settings.Stream, Object.keys(parts.retime)),
    openUntil: () => context.documents('').firing.openUntil(),
    time: () => clock?.fresh(),
  })
  const backgrounds = settings.State.Store ? sweepingOf(parts, context.documents(''), { clock, kept, log }) : []

  const { App: app, AppChannel: channel } = settings
  const reads = Object.keys(parts.reactions)
  const written = clock ? [...service.produces, ...timed, clockTopic] : service.produces
  const writes = [...written, ...reads.map(deadLetterTopic)]
  const group = reads.length > 0 ? app.Name : undefined
  const refusals = new Set([...Object.keys(service.refusals), callUnknown])
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
  const clockFault = () => (clock && clock.fresh() === undefined ? staleClock : undefined)
  const streamCheck = createStreamCheck(settings.Stream, { group, reads, writes }, { warn })
  const all = Object.values(consumers)
  const watchdog = createWatchdog({ read: groupReader(settings.Stream, app.Name, reads), log })
  const watched = ([topic, { deliver }]: [string, Consumer]) => [topic, watchdog.watched(topic, deliver)]
  const deliverers = Object.fromEntries(Object.entries(consumers).map(watched))
  const stalled = () => watchdog.stalled().values().next().value
  const stoppedBy = () => all.map(({ stoppedBy }) => stoppedBy()).find(Boolean) ?? stalled() ?? clockFault()
  const readiness = createReadiness(sidecar, streamCheck, stoppedBy, storeWatch)
  metrics.readiness(['sidecar', ...(settings.State.Store ? ['store'] : []), 'stream'], () => readiness())
  metrics.stalled(reads, watchdog.stalled)
  if (clock) metrics.overdue(context.documents('').firing.overdueMs)
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
      warnings: kept.warnings,
      redelivered: () => all.flatMap((consumer) => consumer.redelivered()),
    }),
    channel: createAppChannel({ token: channel.Token, consumers: deliverers, log }),
    metrics: withDryRun(metrics.listener, { dryRun, token: settings.DryRun.Token, log }),
    backgrounds: [parts.background, ...backgrounds].filter((one) => one !== undefined),
    ...(group && { watchdog }),
    ...(group && settings.State.Store && { storeWatch }),
  }
}

/** The interval at which stored events are announced, and due deadlines are fired. */
const sweepMs = 1_000
/** The interval at which the log's time is read. */
const tickMs = 10_000
/** The interval at which the retention of topics is compared with the deadlines. */
const compareMs = 60_000

const staleClock = `the time of the log is older than a minute, so no deadline passes: the topic ${clockTopic} could not be written or read`

/** Returns the work of a service with entities, which continues until it stops. Its last run helps other processes, which then need not wait. */
function sweepingOf(
  parts: AllParts,
  { announcing, firing }: Documents,
  { clock, kept, log }: { clock: LogClock | undefined; kept: KeptDeadlines; log: Logger },
): Background[] {
  const { entities = [] } = parts
  for (const { name, announceStored, fire, schedules } of entities) {
    announcing.onVisit(name, announceStored)
    if (fire) firing.onDue(name, fire)
    if (schedules) announcing.onVisit(schedules.name, announceStored)
  }
  const warning = (text: string) => (err: unknown) => log.warn({ err }, text)
  const sweeping = repeating(
    announcing.sweep,
    sweepMs,
    warning('stored events could not be announced; this is repeated'),
  )
  if (!clock) return [sweeping]
  const fired = warning('due deadlines could not be fired; this is repeated')
  const passSchedules = async () => {
    const time = clock.fresh()
    if (time === undefined) return
    await Promise.all(entities.map(({ schedules }) => schedules?.pass(new Date(time))))
  }
  const nothing = async () => {}
  return [
    repeating(
      () => clock.tick(firing.openUntil()),
      tickMs,
      warning('the time of the log could not be read; this is repeated'),
      nothing,
    ),
    repeating(firing.sweep, sweepMs, fired, firing.leave),
    repeating(passSchedules, sweepMs, fired, nothing),
    repeating(kept.check, compareMs, warning('the retention of topics could not be read; this is repeated'), nothing),
    sweeping,
  ]
}

const noPublish = async (): Promise<void> => {}

const noDocuments: DocumentsOf = () => {
  throw new Error('this service has no store: set State__Store')
}

/** The parts of a service, with the reactions of its entities. `retime` gives stored entities the deadlines of this release. */
export interface AllParts extends ServiceParts {
  reactions: Reactions
  rebuild: Reactions<boolean>
  retime: Reactions<boolean>
}

/**
 * Creates the parts of a service, such as routes and reactions, with the operators' routes for deadlines. Dry runs and rebuilds call it with a different
 * context.
 * @param check runs before these routes are created, which need the schema of passed deadlines
 */
export function createParts<S extends object>(
  { create }: ServiceDefinition<S>,
  context: Omit<ServiceContext<S>, 'app'>,
  check: (parts: AllParts) => void = () => {},
): AllParts {
  const { Id: id, Name: name } = context.settings.App
  const whole = { ...context, app: { id, name } }
  const parts = withEntities(create(whole))
  check(parts)
  return { ...parts, routes: [...parts.routes, ...deadlineRoutes(parts.entities ?? [], whole)] }
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
    retime: merged(entities.map((entity) => entity.retime)),
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
