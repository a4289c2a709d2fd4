/** The parts of services.json that the move reads or writes. */
export interface ServicesJson {
  partitions: object
  portOffset?: number
  consumersPerReplica?: number
  topics?: Record<string, { constant?: string; key: string; outside?: string[] }>
  services: Record<string, ServiceEntry>
  [field: string]: unknown
}

interface ServiceEntry {
  http: number
  https: number
  channel: number
  consumes: Record<string, string>
  produces: Record<string, string[]>
  [field: string]: unknown
}

/** The fields of services.json that version 0.1.0 did not have: it contained the values of the example. */
const exampleFields = ['reactions', 'objective', 'demo']

interface ServicesOptions {
  /** services.json of version 0.1.0: `lanes` and `outside` have other names or places now. */
  old: ServicesJson & { lanes?: number; outside?: string[] }
  /** services.json of the new application. */
  own: ServicesJson
  /** The constants of topics in `envelope-schema/src/topics.ts`, by topic. */
  constants: ReadonlyMap<string, string>
  /** services.json of the example. The application gets its reactions, objective and demo if it still has the services of the example. */
  example: ServicesJson
}

export function movedServices({ old, own, constants, example }: ServicesOptions): ServicesJson {
  const { portOffset = 0 } = own
  const entries = Object.entries(old.services)
  const names = new Set(
    entries.flatMap(([, { consumes, produces }]) => [...Object.keys(consumes), ...Object.keys(produces)]),
  )
  const eventsOf = (topic: string) => [...new Set(entries.flatMap(([, { produces }]) => produces[topic] ?? []))]
  const topics = [...names].map((name) => {
    const constant = constants.get(name)
    const outside = old.outside?.includes(name) ? { outside: eventsOf(name) } : {}
    return [name, { ...(constant && { constant }), key: 'OrderId', ...outside }]
  })
  const services = entries.map(([name, { http, https, channel, ...entry }]) => [
    name,
    { http: http + portOffset, https: https + portOffset, channel: channel + portOffset, ...entry },
  ])
  const isExample = Object.keys(example.services).every((name) => Object.hasOwn(old.services, name))
  const fields = isExample ? exampleFields.map((field) => [field, example[field]]) : []
  return {
    partitions: old.partitions,
    ...(own.portOffset !== undefined && { portOffset }),
    ...(old.lanes !== undefined && { consumersPerReplica: old.lanes }),
    topics: Object.fromEntries(topics),
    ...Object.fromEntries(fields),
    services: Object.fromEntries(services),
  }
}

/** Returns the constants of topics, by topic. */
export function constantsIn(source: string): Map<string, string> {
  const found = source.matchAll(/^export const (\w+) = '([^']+)'/gm)
  return new Map([...found].map(([, constant = '', topic = '']) => [topic, constant]))
}

type Sections = Record<string, Record<string, unknown>>

/** Returns the settings of a service, with the default values of settings that version 0.1.0 did not have. */
export function movedSettings(old: Sections, defaults: Sections): Sections {
  const added = Object.entries(defaults).filter(([section]) => !Object.hasOwn(old, section))
  const merged = Object.entries(old).map(([section, settings]) => [
    section,
    { ...settings, ...missing(section, settings) },
  ])
  return { ...Object.fromEntries(merged), ...Object.fromEntries(added) }

  function missing(section: string, settings: Record<string, unknown>) {
    return Object.fromEntries(
      Object.entries(defaults[section] ?? {}).filter(([name]) => !Object.hasOwn(settings, name)),
    )
  }
}

interface Manifest {
  name: string
  dependencies?: Record<string, string>
  [field: string]: unknown
}

/** Returns the package.json of a service. @param versions the versions of the packages in the application, by name */
export function movedManifest(
  old: Manifest,
  application: string,
  versions: Readonly<Record<string, string>>,
): Manifest {
  const renamed = (name: string) => (versions[name] ? name : name.replace('@orderflow/', `@${application}/`))
  const dependencies = Object.entries(old.dependencies ?? {}).map(([name, version]) => [
    renamed(name),
    versions[renamed(name)] ?? version,
  ])
  return { ...old, name: renamed(old.name), dependencies: Object.fromEntries(dependencies) }
}

const unlistedNow: Record<string, string> = { 'taken-in': 'accept', 'set-aside': 'reject' }

/** Returns trust.json. @param $schema the address of its schema in the application */
export function movedTrust(old: { unlisted: string; [field: string]: unknown }, $schema: string): object {
  return { ...old, $schema, unlisted: unlistedNow[old.unlisted] ?? old.unlisted }
}

/** Returns README.md of the application with an address for each service. */
export function movedReadme(own: string, services: ServicesJson['services']): string {
  const rows = Object.entries(services)
    .filter(([name]) => !own.includes(`\n| ${name} | http`))
    .map(([name, { http, https }]) => `| ${name} | http://localhost:${http}/, https://localhost:${https}/ |\n`)
  const last = [...own.matchAll(/^\| [\w-]+ \| http:.*\n/gm)].at(-1)
  const end = last ? last.index + last[0].length : own.length
  return own.slice(0, end) + rows.join('') + own.slice(end)
}
