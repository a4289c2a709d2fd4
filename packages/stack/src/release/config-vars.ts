import { join } from 'node:path'
import { isSecretName } from '@orderflow/service-kit/setup'
import { hostedProblems } from '../../templates/release-image/hosted-settings.ts'
import { repository } from '../application/paths.ts'
import { application, type Service } from '../application/services.ts'
import { declaredSettings, select } from '../application/variables.ts'

export type ConfigVars = Record<string, string>

/** Returns the secret values of config vars. Includes config vars that no release sets, such as an add-on's URL. */
export function secretsOf(vars: Record<string, string | null>): string[] {
  const secrets = Object.entries(vars).flatMap(([name, value]) =>
    value && (isSecretName(name) || hasCredentials(value)) ? [value, ...listedSecrets(value)] : [],
  )
  return [...new Set(secrets)]
}

/** Returns the secrets in a list. The list has keys, `header=secret` pairs or `service=url token` pairs. */
function listedSecrets(value: string): string[] {
  // A URI or JSON is not a list.
  if (/^([\w+.-]+:\/\/|[[{])/.test(value)) return []
  return value.split(',').map((item) => {
    const [, secret = item] = / (\S+)$/.exec(item) ?? /^[\w-]+=([^=].*)$/.exec(item) ?? []
    return secret
  })
}

const hasCredentials = (value: string): boolean => /:\/\/[^/@\s]*@/.test(value)

/** The sections for listeners inside the container. The image sets them; the platform sets only PORT. */
const insideTheImage = ['Web', 'AppChannel', 'Metrics', 'Sidecar']

/** The defaults of a hosted service, which is public. The hosted broker requires authentication, and usually refuses sessions shorter than 6 s. */
const hostedDefaults: ConfigVars = {
  Stream__Brokers: '',
  Stream__AuthType: 'password',
  Stream__SessionTimeout: '10s',
  Auth__Mode: 'closed',
}

const traceVariables = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
]

export interface Resolved {
  vars: ConfigVars
  /** Each line begins with the name of a setting. */
  problems: string[]
}

/**
 * Returns a service's config vars: every key of `appsettings.json` as `Section__Key`. The value comes from the environment, otherwise from `earlier`
 * (the config-vars.json of an export), otherwise from appsettings.json.
 */
export async function resolveConfigVars(
  service: Service,
  env: NodeJS.ProcessEnv,
  earlier: ConfigVars,
): Promise<Resolved> {
  const declared = declaredSettings(join(repository, service.folder))
  const exported = select(declared, (name) => !insideTheImage.includes(sectionOf(name)))
  const defaults: ConfigVars = { ...exported, ...hostedDefaults }
  const vars: ConfigVars = { ...earlier }
  for (const [name, value] of Object.entries(defaults)) vars[name] = env[name] ?? earlier[name] ?? value
  for (const name of traceVariables) if (env[name] !== undefined) vars[name] = env[name]
  const sections = new Set(Object.keys(defaults).map(sectionOf))
  const unknown = Object.keys({ ...earlier, ...env }).filter((name) => !(name in defaults) && isSetting(name, sections))
  const problems = [...unknown.map((name) => `${name}: no such setting`), ...earlierProblems(earlier)]
  return {
    vars,
    problems:
      problems.length > 0
        ? problems
        : await configProblems(join(repository, service.folder), { ...sharedSettings(env), ...vars }),
  }
}

/** Returns the variables of settings that services.json sets for all services. They need no config var, but another value must be refused. */
function sharedSettings(env: NodeJS.ProcessEnv): ConfigVars {
  const shared = Object.entries(application.settings).flatMap(([section, values]) =>
    Object.keys(values).map((name) => `${section}__${name}`),
  )
  return select(env, (name) => shared.includes(name))
}

/** Users may have edited the config-vars.json. */
function earlierProblems(earlier: Record<string, unknown>): string[] {
  return Object.entries(earlier).flatMap(([name, value]) => {
    if (!/^\w+$/.test(name)) return [`${name}: a name has only letters, digits and underscores`]
    return typeof value === 'string' ? [] : [`${name}: must be a string in quotes`]
  })
}

const sectionOf = (name: string) => name.split('__')[0] ?? ''
const isSetting = (name: string, sections: Set<string>) => name.includes('__') && sections.has(sectionOf(name))

async function configProblems(serviceFolder: string, vars: ConfigVars): Promise<string[]> {
  // Loads the service only here, because loading it takes a while.
  const { serviceProblems } = await import('../../templates/release-image/service-settings.ts')
  // The platform sets PORT, and the image listens on all interfaces.
  const own = await serviceProblems(serviceFolder, { ...vars, PORT: '1', Web__Host: '0.0.0.0' })
  return [...own, ...localProblems(vars), ...hostedProblems(vars)]
}

function localProblems({ Stream__Brokers: brokers = '' }: ConfigVars): string[] {
  const isLocal = brokers.split(',').some((broker) => /^(localhost|127\.)/.test(broker))
  return isLocal ? ['Stream__Brokers: names this machine, which the platform cannot reach'] : []
}

/** A value is undefined if the config var does not exist. */
export interface Change {
  name: string
  before: string | undefined
  after: string | undefined
}

/** Compares only the config vars of `wanted`. */
export function changesBetween(current: ConfigVars, wanted: Record<string, string | undefined>): Change[] {
  return Object.entries(wanted)
    .map(([name, after]) => ({ name, before: current[name], after }))
    .filter(({ before, after }) => before !== after)
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** Returns the body of the PATCH request. Null removes a config var. */
export function patchOf(changes: Change[]): Record<string, string | null> {
  return Object.fromEntries(changes.map(({ name, after }) => [name, after ?? null]))
}

/** Returns a line of a diff, which begins with `+` (new), `-` (removed) or `~` (changed). */
export function describeChange({ name, before, after }: Change): string {
  if (before === undefined) return `+ ${name} = ${show(name, after)}`
  if (after === undefined) return `- ${name} = ${show(name, before)}`
  return `~ ${name} = ${show(name, before)} -> ${show(name, after)}${isSecretName(name) ? ' (another value)' : ''}`
}

function show(name: string, value = ''): string {
  if (value === '') return '(empty)'
  if (isSecretName(name) || hasCredentials(value)) return '***'
  const line = value.replaceAll('\n', ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}
