import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configProblems } from './config-problems.ts'
import type { ConfigVars } from './config-vars.ts'
import { folderOf, type Service } from './services.ts'

/** Listeners inside the container, which the image sets itself: the platform gives one port, as PORT. */
const insideTheImage = ['Web', 'AppChannel', 'Metrics', 'Sidecar']

/**
 * Where a hosted service differs from a local one: strangers reach it; and its broker is elsewhere, asks who you are, and mostly refuses
 * sessions under 6 s.
 */
const hostedDefaults: ConfigVars = {
  Stream__Brokers: '',
  Stream__AuthType: 'password',
  Stream__SessionTimeout: '10s',
  Auth__Mode: 'closed',
}

/** Where a hosted service's traces go, how to get in there, and how many of them (docs/observability.md). */
const traceVariables = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
]

export interface Resolved {
  vars: ConfigVars
  /** A line for each setting that is missing or wrong, beginning with its name. */
  problems: string[]
}

/**
 * A service's config vars: every key of `appsettings.json` as `Section__Key`, each from the environment, else from
 * `earlier` (the config-vars.json of an export), else the file's own value; what the environment says of traces; and whatever
 * else `earlier` has.
 */
export async function resolveConfigVars(
  service: Service,
  env: NodeJS.ProcessEnv,
  earlier: ConfigVars,
): Promise<Resolved> {
  const defaults = { ...flatten(service), ...hostedDefaults }
  const vars: ConfigVars = { ...earlier }
  for (const [name, value] of Object.entries(defaults)) vars[name] = env[name] ?? earlier[name] ?? value
  for (const name of traceVariables) if (env[name] !== undefined) vars[name] = env[name]
  const sections = new Set(Object.keys(defaults).map(sectionOf))
  const unknown = Object.keys({ ...earlier, ...env }).filter((name) => !(name in defaults) && isSetting(name, sections))
  const problems = [...unknown.map((name) => `${name}: no such setting`), ...earlierProblems(earlier)]
  return { vars, problems: problems.length > 0 ? problems : await configProblems(folderOf(service), vars) }
}

/** What a person may have written into config-vars.json. */
function earlierProblems(earlier: Record<string, unknown>): string[] {
  return Object.entries(earlier).flatMap(([name, value]) => {
    if (!/^\w+$/.test(name)) return [`${name}: a name has letters, digits and underscores only`]
    return typeof value === 'string' ? [] : [`${name}: must be a text, in quotes`]
  })
}

function flatten(service: Service): ConfigVars {
  const sections = JSON.parse(readFileSync(join(folderOf(service), 'appsettings.json'), 'utf8')) as Record<
    string,
    Record<string, unknown>
  >
  const exported = Object.entries(sections).filter(([section]) => !insideTheImage.includes(section))
  return Object.fromEntries(
    exported.flatMap(([section, keys]) =>
      Object.entries(keys).map(([key, value]) => [`${section}__${key}`, String(value)]),
    ),
  )
}

const sectionOf = (name: string) => name.split('__')[0] ?? ''
const isSetting = (name: string, sections: Set<string>) => name.includes('__') && sections.has(sectionOf(name))
