import type { Application } from '@orderflow/service-kit/application'

/** A service of the system, as the monitor asks it. */
export interface WatchedService {
  name: string
  consumes: string[]
  /** Names of events by topic. */
  publishes: Record<string, string[]>
  /** Where its health is asked. */
  url: string
  /** Where it is asked what it would do, and by which token; undefined for one that nobody may ask. */
  dryRun: { url: string; token: string } | undefined
}

/** Section `Monitor` of the settings. */
export interface MonitorSettings {
  Monitor: {
    /** Where the index is, seen from the service's folder. */
    Folder: string
    /** The newest events that are kept, and for how many days. */
    KeepEvents: number
    KeepDays: number
    /** `service=url` for each, separated by commas; empty: this machine, at the ports of services.json. */
    Addresses: string
    /** `service=url token` for each that may be asked what it would do, separated by commas. From the environment only. */
    DryRuns: string
  }
}

/** Returns the services of services.json, at the addresses that the settings name. */
export function watchedServices(
  services: Application['services'],
  { Addresses, DryRuns }: MonitorSettings['Monitor'],
): WatchedService[] {
  const [addresses, dryRuns] = [pairs(Addresses), pairs(DryRuns)]
  return Object.entries(services).map(([name, { consumes, produces, http }]) => {
    const [url = '', token = ''] = dryRuns.get(name)?.split(' ') ?? []
    return {
      name,
      consumes: Object.keys(consumes),
      publishes: produces,
      url: addresses.get(name) ?? `http://127.0.0.1:${http}`,
      dryRun: url && token ? { url, token } : undefined,
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
