import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { momentProblem } from '@orderflow/envelope'
import type { StreamSettings } from '@orderflow/kafka-log'
import { Ajv, type ErrorObject } from 'ajv'
import { type AuthSettings, authProblems, isLoopback } from '../../auth/auth-settings.ts'
import type { SidecarSettings } from '../../sidecar/sidecar.ts'
import { traceProblems } from '../../telemetry/trace-settings.ts'
import type { TrustSettings } from '../../trust/read-trust.ts'
import type { Limits } from '../../web/rate-limits.ts'
import { baseSections, formats, otherNames, type Section, section } from './sections.ts'
import { setShared, sharedPlace } from './shared-settings.ts'

/** The settings of every service, which sections.ts describes. Secrets come from the environment only. */
export interface BaseSettings extends SidecarSettings, AuthSettings {
  App: { Id: string; Name: string }
  Web: Record<'Host' | 'Hosts' | 'CertificateFile' | 'KeyFile', string> &
    Record<'HttpPort' | 'HttpsPort' | 'Proxies', number>
  Limits: Limits
  AppChannel: { Host: string; Port: number; Token: string }
  Metrics: { Host: string; Port: number }
  DryRun: { Token: string }
  Stream: SidecarSettings['Stream'] & StreamSettings
  Trust: TrustSettings
  Log: { Level: string }
  Telemetry: { TracePage: string; MonitorPage: string }
}

/** Thrown if settings are missing or invalid. Each text of `problems` names the variable to change. */
export class SettingsError extends Error {
  readonly code = 'settings'
  readonly problems: string[]
  constructor(file: string, problems: string[]) {
    super(`settings are not usable (${file}):\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'SettingsError'
    this.problems = problems
  }
}

/**
 * Reads a service's `appsettings.json`, replaces values with those of the environment (such as `Web__HttpPort=8080`), and validates the result. Takes
 * the values of shared settings from services.json.
 * @param service.sections the service's own sections, as one JSON Schema for each section
 * @throws {SettingsError} with all problems, and the variables that fix them
 */
export function readSettings<S extends object>(
  { root, sections }: { root: URL; sections?: Record<keyof S & string, Section> },
  env: NodeJS.ProcessEnv,
): BaseSettings & S {
  const file = new URL('appsettings.json', root)
  const schemas: Record<string, Section> = {
    ...(baseSections satisfies Record<keyof BaseSettings, Section>),
    ...sections,
  }
  const settings = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>
  for (const [variable, value] of [...fromOthers(env), ...Object.entries(env)]) {
    const [name, key, ...rest] = variable.split('__')
    const schema = name && Object.hasOwn(schemas, name) ? schemas[name] : undefined
    if (!name || !key || !schema || rest.length > 0) continue
    settings[name] = { ...settings[name], [key]: fromText(value, schema.properties[key]?.type) }
  }
  const notShared = setShared(settings, schemas, root)
  // The schemas are not validated, because the meta-schema is slow to compile. Ajv in strict mode already rejects invalid schemas.
  const ajv = new Ajv({ allErrors: true, validateSchema: false, verbose: true, formats, keywords: ['shared'] })
  const validate = ajv.compile(section(schemas))
  validate(settings)
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if')
  const invalid = errors.map((error) => describe(error, schemas, env))
  const typed = settings as unknown as BaseSettings & S
  const isAuthReadable = !invalid.some((problem) => /^(Auth|Web)/.test(problem))
  const problems = [...invalid, ...notShared, ...(isAuthReadable ? authProblems(typed) : []), ...traceProblems(env)]
  if (problems.length > 0) throw new SettingsError(fileURLToPath(file), problems)
  return { ...typed, App: { ...typed.App, Id: typed.App.Id.toLowerCase() } }
}

const fromOthers = (env: NodeJS.ProcessEnv) =>
  Object.entries(otherNames).flatMap(([setting, other]) =>
    env[other] === undefined ? [] : [[setting, env[other]] as const],
  )

/** Returns the name of the environment variable that has the wrong value, or that sets the missing value. */
function variableOf(setting: string, isMissing: boolean, env: NodeJS.ProcessEnv): string {
  const other = otherNames[setting]
  if (other === undefined || env[setting] !== undefined) return setting
  return isMissing || env[other] !== undefined ? other : setting
}

/**
 * Converts the text of an environment variable to the type of its setting. Ajv's own conversion would also accept `Infinity`, `0x10` and an empty
 * text.
 */
function fromText(value: string | undefined, type: string | undefined): unknown {
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  const isNumber = type === 'number' || type === 'integer'
  return isNumber && /^-?\d+(\.\d+)?$/.test(value ?? '') ? Number(value) : value
}

function describe(error: ErrorObject, schemas: Record<string, Section>, env: NodeJS.ProcessEnv): string {
  const extra = (error.params as { additionalProperty?: string; missingProperty?: string }) ?? {}
  const path = [...error.instancePath.split('/').slice(1), extra.additionalProperty ?? extra.missingProperty]
  const [name = '', key] = path.filter((part) => part !== undefined)
  const place = sharedPlace(schemas, name, key)
  const variable = place ?? variableOf([name, key].filter(Boolean).join('__'), extra.missingProperty !== undefined, env)
  if (extra.additionalProperty) return `${variable}: no such setting`
  if (extra.missingProperty || error.keyword === 'minLength')
    return `${variable}: is missing; ${place ? 'add it' : 'set this variable'}`
  if (error.keyword === 'enum') return `${variable}: must be one of ${error.params.allowedValues.join(', ')}`
  if (error.params.type === 'boolean') return `${variable}: must be true or false`
  if (error.keyword === 'format') return `${variable}: ${momentProblem(error.data as string)}`
  const isNumber = error.keyword === 'type' && ['number', 'integer'].includes(error.params.type)
  return `${variable}: ${error.message}${isNumber ? ', in plain digits' : ''}`
}

/** Returns the rate limits; undefined for a listener on loopback, which has no limits. */
export const limitsOf = ({ Web: web, Limits: limits }: Pick<BaseSettings, 'Web' | 'Limits'>): Limits | undefined =>
  isLoopback(web.Host) ? undefined : limits
