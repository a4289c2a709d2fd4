import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './paths.ts'

/**
 * How soon a service wants the events of a topic: `prompt` what somebody waits for, each partition in a lane of its own;
 * `background` what may take longer and come in larger batches (docs/adr/0011).
 */
export type Urgency = 'prompt' | 'background'

/** What `services.json` says of a service. Its name is its folder, its App.Name, its Dapr app-id and its consumer group. */
export interface Service {
  name: string
  /** Loopback ports: public http and https, and where its sidecar calls it. */
  http: number
  https: number
  channel: number
  consumes: Record<string, Urgency>
  produces: string[]
}

interface Registry {
  /** Of each topic that is created. */
  partitions: number
  services: Record<string, Omit<Service, 'name'>>
}

const registry = JSON.parse(readFileSync(join(repository, 'services.json'), 'utf8')) as Registry

/** The services of the system, in the order in which they start: the one place that says which there are. */
export const services: readonly Service[] = Object.entries(registry.services).map(([name, service]) => ({
  name,
  ...service,
}))

/** Partitions of each topic of events. */
export const { partitions } = registry
