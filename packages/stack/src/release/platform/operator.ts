import { meansYes } from '@orderflow/service-kit/setup'
import { CliError } from '../../base/error.ts'

export interface Target {
  /** The API's address, without a trailing slash. */
  apiUrl: string
  /** The name in the media type application/vnd.<platform>+json. */
  platform: string
  /** The host of the container registry, with a port if needed. */
  registry: string
}

export interface Operator extends Target {
  app: string
  token: string
}

const variables = {
  APP: {
    pattern: /^[a-z][a-z0-9-]{1,28}[a-z0-9]$/,
    rule: 'has 3 to 30 lower-case letters, digits and dashes, and begins with a letter',
  },
  ACCESS_TOKEN: { pattern: /^[\x21-\x7e]+$/, rule: 'is one line of letters, digits and signs without spaces' },
  PLATFORM_NAME: { pattern: /^[a-z0-9][a-z0-9.-]*$/, rule: 'has only lower-case letters, digits, dots and dashes' },
  PLATFORM_REGISTRY: {
    pattern: /^[a-z0-9][a-z0-9.-]*(:\d+)?$/,
    rule: 'is a host with an optional port, without https://',
  },
} as const

/** Reads the variables that describe the platform. The defaults describe Heroku. */
export function readTarget(env: NodeJS.ProcessEnv): Target {
  return {
    apiUrl: secureUrl('PLATFORM_API_URL', env.PLATFORM_API_URL || 'https://api.heroku.com'),
    platform: accept('PLATFORM_NAME', env.PLATFORM_NAME || 'heroku'),
    registry: accept('PLATFORM_REGISTRY', env.PLATFORM_REGISTRY || 'registry.heroku.com'),
  }
}

export function readOperator(env: NodeJS.ProcessEnv, command: string): Operator {
  const target = readTarget(env)
  if (!env.APP) {
    throw new CliError('usage', 'APP is missing: the name of the app on the platform', {
      nextStep: `./orderflow ${command} --app name-of-your-app`,
    })
  }
  const app = accept('APP', env.APP)
  if (!env.ACCESS_TOKEN) {
    throw new CliError('usage', 'ACCESS_TOKEN is missing: a token of the platform’s API', {
      nextStep: 'read -rs ACCESS_TOKEN && export ACCESS_TOKEN, which keeps it out of the history and of process lists',
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

/** Returns a URL without a trailing slash. Requests contain tokens, so http is allowed only for this machine. */
export function secureUrl(name: string, value: string): string {
  const url = URL.parse(value)
  const isLocal = url !== null && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return value.replace(/\/+$/, '')
  throw new CliError('usage', `${name} (${value}) is not usable: it must be a URL that begins with https://`, {
    nextStep: `set ${name} again`,
  })
}

/** @throws {CliError} `usage` for an ambiguous `DRY_RUN`, because a guess could cause unwanted changes */
export function readDryRun({ DRY_RUN: value = '' }: NodeJS.ProcessEnv): boolean {
  const isDry = meansYes(value)
  if (isDry !== undefined) return isDry
  throw new CliError('usage', `DRY_RUN (${value}) must mean yes or no`, {
    nextStep: 'DRY_RUN=1 (yes, true) only shows the changes; DRY_RUN=0 (no, false) makes them',
  })
}
