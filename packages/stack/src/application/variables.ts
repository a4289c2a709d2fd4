import { join } from 'node:path'
import { CliError } from '../base/error.ts'
import { readJson } from '../base/files.ts'

/** Settings of services and sidecars: those of appsettings.json as Section__Key, and the destination of traces (components/configuration.yaml). */
const settings = [/^[A-Z][A-Za-z]*__\w+$/, /^OTEL_\w+$/]

/** The addresses and passwords of servers. In a shell they belong to another stack, because a stack of processes has its own servers. */
const ofOtherServers = /^(Stream__(Brokers|AuthType|Sasl\w+|DisableTls|CaCert)|State__ConnectionString)$/

/** Variables of the machine: certificate authorities, and proxies with the variable that lets Node use them. */
const ofMachine = [
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/,
  /^((HTTPS?|ALL|NO)_PROXY|NODE_USE_ENV_PROXY)$/i,
]

type Variables = Record<string, string>

/**
 * Returns the settings in the appsettings.json of a service as `Section__Key`.
 * @param folder the folder of the service
 * @throws {CliError} `settings` if the file is missing or invalid
 */
export function declaredSettings(folder: string): Variables {
  const sections = readJson<Record<string, object>>(join(folder, 'appsettings.json'))
  const settings = Object.entries(sections).flatMap(([section, keys]) =>
    Object.entries(keys).map(([key, value]) => [`${section}__${key}`, String(value)]),
  )
  return Object.fromEntries(settings)
}

/** Returns the variables with a value whose names are selected. */
export const select = (env: NodeJS.ProcessEnv, isSelected: (name: string) => boolean): Variables =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => isSelected(entry[0]) && entry[1] !== undefined),
  )

const isSetting = (name: string) => settings.some((pattern) => pattern.test(name)) && !ofOtherServers.test(name)
const isOfMachine = (name: string) => ofMachine.some((pattern) => pattern.test(name))

/** Returns the settings that a shell gives to a stack of processes. */
export const givenSettings = (env: NodeJS.ProcessEnv): Variables => select(env, isSetting)

/** Returns the variables that a shell gives to the services and sidecars of a stack of processes. */
export const givenVariables = (env: NodeJS.ProcessEnv): Variables =>
  select(env, (name) => isSetting(name) || isOfMachine(name))

/** Returns the settings of the Kafka that `Stream__Brokers` names. */
export const streamVariables = (env: NodeJS.ProcessEnv): Variables => select(env, (name) => /^Stream__\w+$/.test(name))

/** Returns the other variables of a shell, with which a program of a stack may run. */
export function withoutVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOwn = (name: string) => settings.some((pattern) => pattern.test(name)) || isOfMachine(name)
  return select(env, (name) => !isOwn(name))
}

/**
 * Returns the variables for the start of a stack. A running stack keeps its own. A stopped stack keeps its settings, except those that the shell
 * changes, or removes by an empty value. It takes the variables of the machine from the shell.
 * @throws {CliError} `still-running` if the shell has other settings than the running stack
 */
export function chooseVariables(remembered: Variables, env: NodeJS.ProcessEnv, isRunning: boolean): Variables {
  if (isRunning) {
    requireSameVariables(remembered, givenSettings(env))
    return remembered
  }
  const chosen = { ...select(remembered, isSetting), ...givenVariables(env) }
  return select(chosen, (name) => chosen[name] !== '')
}

/**
 * Checks that a shell has no other value for a variable of a stack. The message contains no values, because they may be secret.
 * @throws {CliError} `still-running`
 */
export function requireSameVariables(remembered: Readonly<Partial<Variables>>, given: Variables): void {
  const other = Object.keys(given).filter((name) => given[name] !== (remembered[name] ?? ''))
  if (other.length === 0) return
  const names = other.join(' ')
  throw new CliError('still-running', `the stack was started with another value of ${other.join(', ')}`, {
    nextStep: `unset ${names}, because commands use the values of the stack. To change it: make down, then make up ${other.map((name) => `${name}=...`).join(' ')}`,
  })
}
