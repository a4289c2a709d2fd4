import { readFileSync } from 'node:fs'
import { Ajv, type ErrorObject } from 'ajv'
import { guid } from './guid.ts'

/** What every service is told at start. Secrets come from the environment only. */
export interface BaseSettings {
  App: { Id: string; Name: string }
  Web: { Host: string; HttpPort: number; HttpsPort: number; CertificateFile: string; KeyFile: string }
  AppChannel: { Host: string; Port: number; Token: string }
  Sidecar: { Host: string; HttpPort: number; GrpcPort: number; Token: string }
  Stream: { PubSub: string; Brokers: string }
  State: { Store: string; ConnectionString: string }
  Log: { Level: string }
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
const id = { type: 'string', pattern: guid.source }

export type Section = {
  type: 'object'
  properties: Record<string, { type?: string; [keyword: string]: unknown }>
  required: string[]
  additionalProperties: false
}

/** A closed JSON Schema object whose properties are all required: a mistyped setting is an error, not silence. */
export function section(properties: Section['properties']): Section {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

const baseSections: Record<keyof BaseSettings, Section> = {
  App: section({ Id: id, Name: required }),
  Web: section({ Host: required, HttpPort: port, HttpsPort: port, CertificateFile: text, KeyFile: text }),
  AppChannel: section({ Host: required, Port: port, Token: required }),
  Sidecar: section({ Host: required, HttpPort: port, GrpcPort: port, Token: required }),
  Stream: section({ PubSub: required, Brokers: text }),
  State: section({ Store: required, ConnectionString: text }),
  Log: section({ Level: { enum: ['debug', 'info', 'warn', 'error', 'silent'] } }),
}

/** Dapr's own variable names for the two tokens, and where they go. */
const daprTokens = { AppChannel: 'APP_API_TOKEN', Sidecar: 'DAPR_API_TOKEN' } as const

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
  for (const [variable, value] of Object.entries(env)) {
    const [name, key, ...rest] = variable.split('__')
    const schema = name && Object.hasOwn(schemas, name) ? schemas[name] : undefined
    if (!name || !key || !schema || rest.length > 0) continue
    settings[name] = { ...settings[name], [key]: fromText(value, schema.properties[key]?.type) }
  }
  for (const [name, variable] of Object.entries(daprTokens)) {
    settings[name] = { ...settings[name], Token: env[variable] ?? '' }
  }
  const validate = new Ajv({ allErrors: true }).compile(section(schemas))
  if (validate(settings)) return settings as unknown as T
  throw new SettingsError(file.pathname, (validate.errors ?? []).map(describe))
}

/** The environment holds texts only. Not Ajv's coercion, which also reads `Infinity`, `0x10` and an empty text. */
function fromText(value: string | undefined, type: string | undefined): unknown {
  const isNumber = type === 'number' || type === 'integer'
  return isNumber && /^-?\d+(\.\d+)?$/.test(value ?? '') ? Number(value) : value
}

function describe(error: ErrorObject): string {
  const extra = (error.params as { additionalProperty?: string; missingProperty?: string }) ?? {}
  const path = [...error.instancePath.split('/').slice(1), extra.additionalProperty ?? extra.missingProperty]
  const [name = '', key] = path.filter((part) => part !== undefined)
  const token = key === 'Token' ? daprTokens[name as keyof typeof daprTokens] : undefined
  const variable = token ?? [name, key].filter(Boolean).join('__')
  if (extra.additionalProperty) return `${variable}: no such setting`
  if (extra.missingProperty || error.keyword === 'minLength') return `${variable}: is missing; set this variable`
  const isNumber = error.keyword === 'type' && error.params.type !== 'string' && error.params.type !== 'object'
  return `${variable}: ${error.message}${isNumber ? ', in plain digits' : ''}`
}
