import { meansYes } from '@orderflow/service-kit/terminal'
import { CliError } from '../lib/error.ts'

/** The platform a release goes to. */
export interface Target {
  /** Without a slash at its end. */
  apiUrl: string
  /** The name in its media type: application/vnd.<platform>+json. */
  platform: string
  /** Host, and port if any, of its container registry. */
  registry: string
}

/** The choices of the operator for one command. */
export interface Operator extends Target {
  app: string
  token: string
}

const variables = {
  APP: {
    pattern: /^[a-z][a-z0-9-]{1,28}[a-z0-9]$/,
    rule: 'is 3 to 30 lower-case letters, digits and dashes, a letter first',
  },
  ACCESS_TOKEN: { pattern: /^[\x21-\x7e]+$/, rule: 'is one line of letters, digits and signs, without spaces' },
  PLATFORM_NAME: { pattern: /^[a-z0-9][a-z0-9.-]*$/, rule: 'is lower-case letters, digits, dots and dashes' },
  PLATFORM_REGISTRY: { pattern: /^[a-z0-9][a-z0-9.-]*(:\d+)?$/, rule: 'is a host and maybe a port, without https://' },
} as const

/**
 * `PLATFORM_API_URL`, `PLATFORM_NAME`, `PLATFORM_REGISTRY`; Heroku's when left out.
 * @throws {CliError} `usage` naming the variable that is wrong
 */
export function readTarget(env: NodeJS.ProcessEnv): Target {
  return {
    apiUrl: secureUrl('PLATFORM_API_URL', env.PLATFORM_API_URL || 'https://api.heroku.com'),
    platform: accept('PLATFORM_NAME', env.PLATFORM_NAME || 'heroku'),
    registry: accept('PLATFORM_REGISTRY', env.PLATFORM_REGISTRY || 'registry.heroku.com'),
  }
}

/**
 * The target, `APP` and `ACCESS_TOKEN`.
 * @throws {CliError} `usage` naming the variable that is missing or wrong
 */
export function readOperator(env: NodeJS.ProcessEnv, command: string): Operator {
  const target = readTarget(env)
  if (!env.APP) {
    throw new CliError('usage', 'APP is missing: the app of the platform', {
      nextStep: `./orderflow ${command} --app name-of-your-app`,
    })
  }
  const app = accept('APP', env.APP)
  if (!env.ACCESS_TOKEN) {
    throw new CliError('usage', 'ACCESS_TOKEN is missing: a token of the platform’s API', {
      nextStep: 'read -rs ACCESS_TOKEN && export ACCESS_TOKEN, so that it is in no history and no process list',
    })
  }
  return { ...target, app, token: accept('ACCESS_TOKEN', env.ACCESS_TOKEN) }
}

function accept(name: keyof typeof variables, value: string): string {
  const { pattern, rule } = variables[name]
  if (pattern.test(value)) return value
  const shown = name === 'ACCESS_TOKEN' ? '' : ` (${value})`
  throw new CliError('usage', `${name}${shown} is not usable: it ${rule}`, { nextStep: `set ${name} again` })
}

/**
 * An https URL without a slash at its end; http is for this machine only, since tokens travel on it.
 * @throws {CliError} `usage` naming the variable
 */
export function secureUrl(name: string, value: string): string {
  const url = URL.parse(value)
  const isLocal = url !== null && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return value.replace(/\/+$/, '')
  throw new CliError('usage', `${name} (${value}) is not usable: it is a URL that begins with https://`, {
    nextStep: `set ${name} again`,
  })
}

/**
 * Returns whether a command only shows what it would do: `DRY_RUN`, which may be left out.
 * @throws {CliError} `usage` when it is neither a yes nor a no, since a guess could change what was not to be changed
 */
export function readDryRun({ DRY_RUN: value = '' }: NodeJS.ProcessEnv): boolean {
  const isDry = meansYes(value)
  if (isDry !== undefined) return isDry
  throw new CliError('usage', `DRY_RUN (${value}) is neither a yes nor a no`, {
    nextStep: 'DRY_RUN=1 (yes, true) shows what would be done; DRY_RUN=0 (no, false), or without it, it is done',
  })
}
