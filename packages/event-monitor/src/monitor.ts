import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectionOf } from '@orderflow/kafka-log'
import { type Background, type ServiceContext, SettingsError } from '@orderflow/service-kit'
import { type Reaction, readApplication } from '@orderflow/service-kit/application'
import { type Listing, readListing, readTrust, type Trust } from '@orderflow/service-kit/log'
import { applicationFile } from '@orderflow/service-kit/setup'
import { HealthProbe, Latencies, type SystemStatus } from './health.ts'
import { type MonitorIndex, openIndex } from './index/monitor-index.ts'
import { createLedger, type Ledger } from './jobs/ledger.ts'
import { createLogAccess, type LogAccess } from './jobs/log-access.ts'
import { createReplays, type Replays } from './jobs/replays.ts'
import { createLiveViews, type LiveViews } from './live-views.ts'
import { typeText } from './model/kind.ts'
import { type MonitorSettings, type WatchedService, watchedServices } from './services.ts'

const dayMs = 24 * 60 * 60 * 1_000

export interface Monitor {
  index: MonitorIndex
  views: LiveViews
  ledger: Ledger
  log: LogAccess
  replays: Replays
  services: readonly WatchedService[]
  reactions: readonly Reaction[]
  trust: Trust
  trustOf: (appId: string | null) => Listing
  status(): Promise<SystemStatus>
  latencies: Latencies
  tracePage: string
  isSigned: boolean
  now: () => Date
}

/** Creates the monitor, without opening files or connections. */
export function openMonitor(
  root: URL,
  context: Pick<ServiceContext<MonitorSettings>, 'settings' | 'log' | 'now' | 'newId'>,
): Monitor & Background {
  const { settings, log, now, newId } = context
  const { Monitor: own, Stream, Trust: trustSettings, Telemetry } = settings
  const kafka = connectionOf(Stream) ?? { bootstrapBrokers: [] }
  const folder = join(resolve(fileURLToPath(root), own.Folder), '/')
  const application = readApplication(applicationFile(fileURLToPath(root)))
  const { services: entries, reactions } = application
  const services = watchedServices(entries, own)
  const trust = readTrust(root, trustSettings)
  const ledger = createLedger(folder)
  const index = openIndex(
    {
      kafka,
      trust: trustSettings,
      root: root.href,
      application,
      folder,
      segmentEvents: Math.max(1_000, Math.ceil(own.KeepEvents / 10)),
      keepEvents: own.KeepEvents,
      keepMs: own.KeepDays * dayMs,
    },
    {
      onTrouble(reason) {
        if (reason === null) log.info('the monitor reads the log')
        else log.warn({ reason }, 'the log cannot be read; the monitor tries again')
      },
      onPartition({ why: reason, ...partition }, isRead) {
        if (isRead) log.info(partition, 'the partition can be read again')
        else log.warn({ ...partition, reason }, 'the partition cannot be read; the monitor tries again')
      },
      onFailure(err) {
        log.error({ err }, 'a thread of the index has failed; the monitor stops')
        // Ends the process. The supervisor restarts the process with consistent data.
        setImmediate(() => {
          throw err
        })
      },
    },
  )
  const views = createLiveViews(index, now)
  const access = createLogAccess(kafka)
  const replays = createReplays({ index, ledger, log: access, trust, now, newId, report: views.job })
  const latencies = new Latencies()
  index.onBatch(({ kinds }) => {
    for (const { kind, delays } of kinds) for (const ms of delays) latencies.add(typeText(kind) ?? '', ms, Date.now())
  })
  const probe = new HealthProbe(kafka, services, now)
  let isStopping = false

  return {
    ...{ index, views, ledger, log: access, replays, services, reactions, trust, latencies, now },
    trustOf: readListing(root, trustSettings),
    status: () => probe.status(),
    tracePage: Telemetry.TracePage,
    isSigned: trustSettings.SigningKeys !== '',
    async start() {
      if (kafka.bootstrapBrokers.length === 0)
        throw new SettingsError('appsettings.json', ['Stream__Brokers: is missing; set this variable'])
      await index.start()
      if (!isStopping) await replays.resume()
    },
    async stop() {
      isStopping = true
      views.stop()
      await replays.close()
      await Promise.all([index.close(), access.close(), probe.close()])
      ledger.close()
    },
  }
}
