import { readFileSync } from 'node:fs'
import { guidPattern, momentProblem } from '@orderflow/envelope-schema'
import { Ajv, type ErrorObject } from 'ajv'
import { type AuthSettings, authProblems, authProperties } from '../auth/auth-settings.ts'
import type { SidecarSettings } from '../sidecar/sidecar.ts'
import type { StreamSettings } from '../stream/kafka-connection.ts'
import { traceProblems } from '../telemetry/traces/trace-settings.ts'
import type { TrustSettings } from '../trust/read-trust.ts'
import type { Limits } from '../web/limits/rate-limits.ts'

/** What every service is told at start, less what only its sidecar needs. Secrets come from the environment only. */
export interface BaseSettings {
  App: { Id: string; Name: string }
  /**
   * `Hosts`: names that it answers under besides those of this machine, by commas, where callers do not prove who they are. `Proxies`: how
   * many proxies are in front, whose word is taken for whom a request comes from.
   */
  Web: {
    Host: string
    Hosts: string
    HttpPort: number
    HttpsPort: number
    CertificateFile: string
    KeyFile: string
    Proxies: number
  }
  Auth: AuthSettings['Auth']
  Limits: Limits
  AppChannel: { Host: string; Port: number; Token: string }
  /** Where metrics are told: to this machine alone, or to a network that nobody else is in. Never to the public. */
  Metrics: { Host: string; Port: number }
  /** By which the monitor is known that asks there what the service would do (docs/monitor.md); empty: nobody may ask. */
  DryRun: { Token: string }
  Sidecar: SidecarSettings['Sidecar']
  /** `PositionIdsBefore`: events that reached the log earlier keep the ids that 0.1.0 derived from positions (ADR 32); empty for none. */
  Stream: SidecarSettings['Stream'] & StreamSettings & { PositionIdsBefore: string }
  State: SidecarSettings['State']
  Trust: TrustSettings
  Log: { Level: string }
  /** Where people look at traces (`TracePage`) and at events (`MonitorPage`), to which the page of the operations links; empty for nowhere. */
  Telemetry: { TracePage: string; MonitorPage: string }
}

/** A missing or wrong setting. `problems` has a line for each, naming the variable that mends it. */
export class SettingsError extends Error {
  readonly code = 'settings'
  readonly problems: string[]
  constructor(file: string, problems: string[]) {
    super(`settings are not usable (${file}):\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'SettingsError'
    this.problems = problems
  }
}

const text = { type: 'string' }
const required = { type: 'string', minLength: 1 }
const port = { type: 'integer', minimum: 1, maximum: 65535 }
const page = { type: 'string', pattern: '^(https?://\\S+)?$' }
const count = { type: 'integer', minimum: 0 }
const id = { type: 'string', pattern: guidPattern }

export type Section = {
  type: 'object'
  properties: Record<string, { type?: string; [keyword: string]: unknown }>
  required: string[]
  additionalProperties: false
  if?: object
  then?: object
}

/** A closed JSON Schema object whose properties are all required: a mistyped setting is an error, not silence. */
export function section(properties: Section['properties']): Section {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** A date-time with an offset, or nothing. */
const moment = { type: 'string', format: 'moment' }
const formats = { moment: (text: string) => text === '' || momentProblem(text) === undefined }

/** What is for the sidecar is validated all the same: a service says what is wrong, a sidecar gives up without a hint. */
const stream: Section = {
  ...section({
    PubSub: { type: 'string', pattern: '^[\\w.-]+(,[\\w.-]+)*$' },
    Brokers: text,
    AuthType: { enum: ['none', 'password'] },
    SaslMechanism: { enum: ['PLAINTEXT', 'SHA-256', 'SHA-512'] },
    SaslUsername: text,
    SaslPassword: text,
    DisableTls: { type: 'boolean' },
    CaCert: text,
    SessionTimeout: { type: 'string', pattern: '^[1-9]\\d*s$' },
    PositionIdsBefore: moment,
  }),
  if: { properties: { AuthType: { const: 'password' } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { SaslUsername: required, SaslPassword: required } },
}

/** Keys are texts that need no escape in a variable or a list, of 192 bits at least when they are random. */
const trust = section({
  File: required,
  Publishers: required,
  SigningKeys: { type: 'string', pattern: '^([\\w+/=-]{32,}(,[\\w+/=-]{32,})*)?$' },
  SignedSince: moment,
})

const baseSections: Record<keyof BaseSettings, Section> = {
  App: section({ Id: id, Name: required }),
  Web: section({
    Host: required,
    Hosts: { type: 'string', pattern: '^([\\w.-]+(, *[\\w.-]*)*)?$' },
    HttpPort: port,
    HttpsPort: port,
    CertificateFile: text,
    KeyFile: text,
    Proxies: count,
  }),
  Auth: section(authProperties),
  Limits: section({ AddressPerMinute: count, CallerPerMinute: count, TenantPerMinute: count }),
  AppChannel: section({ Host: required, Port: port, Token: required }),
  Metrics: section({ Host: required, Port: port }),
  // 192 bits at least when it is random.
  DryRun: section({ Token: { type: 'string', pattern: '^([\\w-]{32,})?$' } }),
  Sidecar: section({ Host: required, HttpPort: port, GrpcPort: port, Token: required }),
  Stream: stream,
  // Without a store for a service that keeps nothing.
  State: section({ Store: text, ConnectionString: text }),
  Trust: trust,
  Log: section({ Level: { enum: ['debug', 'info', 'warn', 'error', 'silent'] } }),
  Telemetry: section({ TracePage: page, MonitorPage: page }),
}

/**
 * Settings that others have a name for, too: Dapr for the tokens, hosting platforms for the port. Where both are set our own
 * counts: whoever wrote it meant this service, while a PORT may be left over in a shell.
 */
const otherNames: Record<string, string> = {
  AppChannel__Token: 'APP_API_TOKEN',
  Sidecar__Token: 'DAPR_API_TOKEN',
  Web__HttpPort: 'PORT',
}

/**
 * Reads `appsettings.json`, lays the environment over it (`__` between levels: `Web__HttpPort=8080`) and validates
 * the whole once. `sections` adds the service's own sections, a JSON Schema each.
 * @throws {SettingsError} listing every problem with the variable that mends it
 */
export function loadSettings<T extends BaseSettings>(
  file: URL,
  sections: Record<string, Section>,
  env: NodeJS.ProcessEnv,
): T {
  const schemas: Record<string, Section> = { ...baseSections, ...sections }
  const settings = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, unknown>>
  for (const [variable, value] of [...fromOthers(env), ...Object.entries(env)]) {
    const [name, key, ...rest] = variable.split('__')
    const schema = name && Object.hasOwn(schemas, name) ? schemas[name] : undefined
    if (!name || !key || !schema || rest.length > 0) continue
    settings[name] = { ...settings[name], [key]: fromText(value, schema.properties[key]?.type) }
  }
  // Strict as it is, Ajv refuses what is no schema. Its meta-schema would say the same, and takes longer to compile than all of these.
  const validate = new Ajv({ allErrors: true, validateSchema: false, verbose: true, formats }).compile(section(schemas))
  validate(settings)
  const invalid = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if').map((error) => describe(error, env))
  const isAuthReadable = !invalid.some((problem) => /^(Auth|Web)/.test(problem))
  const problems = [
    ...invalid,
    ...(isAuthReadable ? authProblems(settings as unknown as T) : []),
    ...traceProblems(env),
  ]
  if (problems.length > 0) throw new SettingsError(file.pathname, problems)
  return withLowerCaseId(settings as unknown as T)
}

/** Under our own names, what the environment says by the others' names. */
function fromOthers(env: NodeJS.ProcessEnv): [setting: string, value: string | undefined][] {
  const given = Object.entries(otherNames).filter(([, other]) => env[other] !== undefined)
  return given.map(([setting, other]) => [setting, env[other]])
}

/** The variable that a wrong value came from, or that a missing one should come from: the others' name is the usual one. */
function variableOf(setting: string, isMissing: boolean, env: NodeJS.ProcessEnv): string {
  const other = otherNames[setting]
  if (other === undefined || env[setting] !== undefined) return setting
  return isMissing || env[other] !== undefined ? other : setting
}

/** As envelopes have it. */
function withLowerCaseId<T extends BaseSettings>(settings: T): T {
  return { ...settings, App: { ...settings.App, Id: settings.App.Id.toLowerCase() } }
}

/** The environment holds texts only. Not Ajv's coercion, which also reads `Infinity`, `0x10` and an empty text. */
function fromText(value: string | undefined, type: string | undefined): unknown {
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  const isNumber = type === 'number' || type === 'integer'
  return isNumber && /^-?\d+(\.\d+)?$/.test(value ?? '') ? Number(value) : value
}

function describe(error: ErrorObject, env: NodeJS.ProcessEnv): string {
  const extra = (error.params as { additionalProperty?: string; missingProperty?: string }) ?? {}
  const path = [...error.instancePath.split('/').slice(1), extra.additionalProperty ?? extra.missingProperty]
  const [name = '', key] = path.filter((part) => part !== undefined)
  const variable = variableOf([name, key].filter(Boolean).join('__'), extra.missingProperty !== undefined, env)
  if (extra.additionalProperty) return `${variable}: no such setting`
  if (extra.missingProperty || error.keyword === 'minLength') return `${variable}: is missing; set this variable`
  if (error.keyword === 'enum') return `${variable}: must be one of ${error.params.allowedValues.join(', ')}`
  if (error.params.type === 'boolean') return `${variable}: must be true or false`
  if (error.keyword === 'format') return `${variable}: ${momentProblem(error.data as string)}`
  const isNumber = error.keyword === 'type' && ['number', 'integer'].includes(error.params.type)
  return `${variable}: ${error.message}${isNumber ? ', in plain digits' : ''}`
}
