import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { localFolder, repository } from '../application/paths.ts'
import { entryOf, localPorts, ofServices, type Service, sidecarOf, storedServices } from '../application/services.ts'
import { readStack, withStackLock } from '../application/stack-record.ts'
import { addressAt } from '../kafka/connection.ts'
import type { ProgressOptions, Reached, Runner } from '../runner.ts'
import { restartProcesses } from './ensure.ts'
import { operateHere } from './inside.ts'
import { logNames, showLogs } from './logs.ts'
import {
  createPlan,
  databaseFile,
  databaseFolder,
  dataFolder,
  kafkaOf,
  requireOwnSettings,
  serversFrom,
  serversOf,
} from './plan.ts'
import { stopStack } from './process/control.ts'
import { requireBroker, requireUp, runningServices, stackStatus, status } from './status.ts'
import { startObserved, startServers } from './up.ts'

export const asProcesses: Runner = {
  name: 'local',
  title: 'as processes',
  stores: ['sqlite', 'postgresql'],
  surroundings: 'processes',
  brokerCounts: [1, 3],
  missing: async () => undefined,
  state: async () => (stackStatus(localFolder).some((row) => row.state === 'running') ? 'running' : 'absent'),
  lastStore: () => serversOf(localFolder).store,
  lastBrokers: async () => {
    // Version 0.2.0, whose Kafka had one broker, kept no record.
    const hasLog = readStack(localFolder).cluster ?? existsSync(join(dataFolder(localFolder), 'kafka'))
    return hasLog ? serversOf(localFolder).brokers : undefined
  },
  dataOf: async (store) => {
    const files = storedServices.map((service) => databaseFile(localFolder, service))
    const paths = (store === 'sqlite' ? files : [databaseFolder(localFolder)]).filter((path) => existsSync(path))
    return paths.map((path) => relative(repository, path)).join(', ') || undefined
  },
  up: async ({ store, brokers, ...options }) => {
    await startObserved({ servers: serversFrom({ store, brokers }), ...options })
    return reach()
  },
  startKafka: async ({ store, brokers, ...options }) => {
    await startServers({ servers: serversFrom({ store, brokers }), ...options })
    return reach().kafka
  },
  down,
  clean,
  restart,
  status,
  runningServices,
  logNames,
  logs: (names, options) => showLogs(localFolder, names, options),
  reach,
  requireRunning: async () => requireUp(localFolder),
  requireKafka: async () => requireBroker(),
  operate: async (service, args) => {
    requireBroker()
    requireUp(localFolder, [sidecarOf(service)])
    return await operateHere(service, args)
  },
}

function reach(): Reached {
  const ports = localPorts()
  // When Kafka runs as a process, it does not authenticate its clients.
  const kafka = kafkaOf({ ports, ...serversOf(localFolder) })
  return {
    services: ofServices(({ name }) => addressAt('localhost', entryOf(ports.services, name))),
    kafka,
    publisher: kafka,
    observers: { jaeger: ports.jaeger, prometheus: ports.prometheus, grafana: undefined },
  }
}

/** Stops all processes. Returns false if nothing ran. */
async function down(onProgress: (line: string) => void): Promise<boolean> {
  return (await stopStack(localFolder, onProgress)).length > 0
}

/** Removes the data, the logs and the records of processes. Returns the removed folders. The caller holds the lock in the folder `run`, which stays. */
async function clean(): Promise<string[]> {
  const run = join(localFolder, 'run')
  const records = existsSync(run) ? readdirSync(run).filter((name) => !name.startsWith('lock')) : []
  const folders = ['data', 'logs'].map((name) => join(localFolder, name)).filter((folder) => existsSync(folder))
  for (const path of [...folders, ...records.map((name) => join(run, name))]) rmSync(path, { recursive: true })
  return records.length > 0 ? [...folders, run] : folders
}

/** Restarts the only replica of a service. Events wait in Kafka during the restart. */
async function restart(service: Service, options: ProgressOptions): Promise<void> {
  requireBroker()
  requireOwnSettings()
  await withStackLock(localFolder, options.onProgress, async () => {
    const plan = await createPlan(localFolder, localPorts())
    await restartProcesses(plan, [service.name, sidecarOf(service)], options)
  })
}
