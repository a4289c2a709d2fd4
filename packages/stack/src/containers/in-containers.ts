import { brokerNames } from '../kafka/broker.ts'
import { composeMissing, engineMissing } from '../provision/engine.ts'
import type { Runner } from '../runner.ts'
import { containersOfCheckout, serviceOf } from './docker.ts'
import { clean, down } from './down.ts'
import { pullStackImages } from './images.ts'
import { operate, streamVariables } from './inside.ts'
import { hasVolume, lastBrokers } from './kafka-volumes.ts'
import { logs } from './logs.ts'
import { readProject, requireProject, volumeOf } from './project.ts'
import { expectedContainers } from './replicas.ts'
import { restart, scale } from './restart.ts'
import { dockerStatus, requireContainers, runningServices } from './status.ts'
import { dockerUp, optionsOf, startServers } from './up.ts'

export const inContainers: Runner = {
  name: 'docker',
  title: 'in containers',
  stores: ['mongodb', 'postgresql'],
  surroundings: 'containers',
  brokerCounts: [1, 3],
  lastBrokers,
  missing: async (options, store) =>
    (await engineMissing()) ??
    (await composeMissing()) ??
    (await pullStackImages(options, store === 'postgresql' ? store : readProject()?.store)),
  state: async () => {
    const containers = await containersOfCheckout()
    if (containers.some(({ State }) => State.Status === 'running')) return 'running'
    return containers.length > 0 ? 'stopped' : 'absent'
  },
  lastStore: () => readProject()?.store ?? 'mongodb',
  dataOf: async () => {
    const project = readProject()
    if (!project) return undefined
    const volume = volumeOf(project, project.store)
    return (await hasVolume(volume)) ? `the volume ${volume}` : undefined
  },
  up: ({ observed, rebuild, ...options }) => dockerUp({ ...optionsOf(options), observed, rebuild }),
  startKafka: async (options) => (await startServers(optionsOf(options))).kafka,
  down,
  clean,
  restart,
  scale,
  status: () => dockerStatus(requireProject()),
  runningServices,
  logNames: expectedContainers,
  logs,
  reach: requireProject,
  requireRunning: () => requireContainers(requireProject()),
  requireKafka: async () => {
    const project = requireProject()
    const all = brokerNames(project)
    const running = (await containersOfCheckout()).filter(({ State }) => State.Status === 'running').map(serviceOf)
    const brokers = all.filter((name) => running.includes(name))
    await requireContainers(project, brokers.length > 0 ? brokers : all)
  },
  operate,
  streamVariables,
}
