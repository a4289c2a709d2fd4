import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { localFolder, repository } from '../application/paths.ts'
import { localPorts } from '../application/ports.ts'
import { entryOf, ofServices, sidecarOf, storedServices } from '../application/services.ts'
import { readStack } from '../application/stack-record.ts'
import { addressAt } from '../kafka/connection.ts'
import type { Reached, Runner } from '../runner.ts'
import { clean, down } from './down.ts'
import { operateHere } from './inside.ts'
import { logNames, showLogs } from './logs.ts'
import { databaseFile, databaseFolder, dataFolder, kafkaOf, serversFrom, serversOf } from './plan.ts'
import { restart } from './restart.ts'
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
  streamVariables: async () => undefined,
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
