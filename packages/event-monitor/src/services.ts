import type { Application } from '@orderflow/service-kit/application'
import { dryRunsIn } from '@orderflow/service-kit/log'

export interface WatchedService {
  name: string
  consumes: string[]
  /** Maps a topic to the names of the events that the service publishes there. */
  publishes: Record<string, string[]>
  url: string
  dryRun: { url: string; token: string } | undefined
}

export interface MonitorSettings {
  Monitor: {
    /** The folder of the index, relative to the service's folder. */
    Folder: string
    KeepEvents: number
    KeepDays: number
    /** `service=url`, separated by commas. Default: this machine, with the ports of services.json. */
    Addresses: string
    /** `service=url token`, separated by commas. It is secret, so it is set only in the environment. */
    DryRuns: string
  }
}

export function watchedServices(
  services: Application['services'],
  { Addresses, DryRuns }: MonitorSettings['Monitor'],
): WatchedService[] {
  const [addresses, dryRuns] = [pairs(Addresses), dryRunsIn(DryRuns)]
  return Object.entries(services).map(([name, { consumes, produces, http }]) => {
    return {
      name,
      consumes: Object.keys(consumes),
      publishes: produces,
      url: addresses.get(name) ?? `http://127.0.0.1:${http}`,
      dryRun: dryRuns.get(name),
    }
  })
}

function pairs(text: string): Map<string, string> {
  const entries = text
    .split(',')
    .filter(Boolean)
    .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const)
  return new Map(entries)
}
