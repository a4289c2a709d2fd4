import { CliError } from '../../base/error.ts'
import type { ConfigVars } from '../config-vars.ts'
import type { Answer, HttpRequest, Send } from './http.ts'
import type { Operator } from './operator.ts'

export interface App {
  name: string
  web_url: string | null
  stack?: { name: string }
  build_stack?: { name: string }
}

export interface Release {
  id: string
  version: number
  status: 'succeeded' | 'failed' | 'pending' | 'expired'
  description: string
}

interface Formation {
  type: string
  quantity: number
}

export interface Dyno {
  name: string
  type: string
  state: 'crashed' | 'down' | 'idle' | 'starting' | 'up'
  size: string
  updated_at: string
  release: { id: string; version: number }
}

interface LogOptions {
  dyno?: string
  lines: number
  tail: boolean
}

/** The platform's API for one app. Every method throws a `CliError`. */
export interface Platform {
  app: () => Promise<App>
  configVars: () => Promise<ConfigVars>
  /** Sets config vars, and removes those with null. The app restarts after a change. */
  patchConfigVars: (vars: Record<string, string | null>) => Promise<ConfigVars>
  newestRelease: () => Promise<Release | undefined>
  /** Creates a release with the image and config vars of an earlier one. */
  rollBack: (releaseId: string) => Promise<Release>
  formation: () => Promise<Formation[]>
  /** Releases an image as process type web. The digest is that of the image's configuration. */
  releaseImage: (digest: string) => Promise<void>
  /** Restores the state from before the first image. */
  removeImage: () => Promise<void>
  scaleWeb: (quantity: number) => Promise<void>
  dynos: () => Promise<Dyno[]>
  stopDyno: (name: string) => Promise<void>
  /** Returns a URL that is valid for a few minutes and needs no token. */
  logUrl: (options: LogOptions) => Promise<string>
}

/** Returns undefined if the app has no release. */
export async function findWeb(platform: Pick<Platform, 'formation'>): Promise<Formation | undefined> {
  return (await platform.formation()).find(({ type }) => type === 'web')
}

export function createPlatform(operator: Operator, send: Send): Platform {
  const mediaType = `application/vnd.${operator.platform}+json; version=3`
  const dockerReleases = `${mediaType}.docker-releases`

  const request = async (
    method: HttpRequest['method'],
    path: string,
    options: { accept?: string; body?: unknown; headers?: Record<string, string>; idempotent?: boolean } = {},
  ): Promise<Answer> => {
    const answer = await send({
      method,
      url: `${operator.apiUrl}/apps/${operator.app}${path}`,
      headers: { Accept: options.accept ?? mediaType, Authorization: `Bearer ${operator.token}`, ...options.headers },
      body: options.body,
      // A PATCH sets a state, so it can be repeated.
      idempotent: options.idempotent ?? method !== 'POST',
      setting: 'PLATFORM_API_URL',
    })
    if (answer.status < 200 || answer.status > 299) throw platformFailure(answer, operator, `${method} ${path || '/'}`)
    return answer
  }
  const json = async <Body>(...args: Parameters<typeof request>): Promise<Body> => {
    const answer = await request(...args)
    try {
      return JSON.parse(answer.text) as Body
    } catch {
      throw platformFailure(answer, operator, `${args[0]} ${args[1] || '/'}`)
    }
  }

  return {
    app: () => json('GET', ''),
    configVars: () => json('GET', '/config-vars'),
    patchConfigVars: (body) => json('PATCH', '/config-vars', { body }),
    newestRelease: async () => {
      const headers = { Range: 'version ..; max=1, order=desc' }
      return (await json<Release[]>('GET', '/releases', { headers }))[0]
    },
    rollBack: (release) => json('POST', '/releases', { body: { release } }),
    formation: () => json('GET', '/formation'),
    releaseImage: async (digest) => {
      const body = { updates: [{ type: 'web', docker_image: digest }] }
      await request('PATCH', '/formation', { accept: dockerReleases, body })
    },
    removeImage: async () => {
      await request('PATCH', '/formation/web', { accept: dockerReleases, body: { docker_image: null } })
    },
    scaleWeb: async (quantity) => {
      await request('PATCH', '/formation', { body: { updates: [{ type: 'web', quantity }] } })
    },
    dynos: () => json('GET', '/dynos'),
    stopDyno: async (name) => {
      await request('POST', `/dynos/${name}/actions/stop`, { idempotent: true })
    },
    logUrl: async (body) => {
      // This request can be repeated, because additional sessions do no harm.
      const { logplex_url: url } = await json<{ logplex_url: string }>('POST', '/log-sessions', {
        body,
        idempotent: true,
      })
      return url
    },
  }
}

const token = 'create a token with the platform’s tool (heroku authorizations:create) and set ACCESS_TOKEN'

function platformFailure(answer: Answer, operator: Operator, request: string): CliError {
  const { status } = answer
  const { apiUrl, app } = operator
  const said = platformMessage(answer.text)
  const fail = (message: string, nextStep: string) => new CliError('platform', message, { nextStep, status })
  switch (status) {
    case 401:
      return fail(`${apiUrl} does not accept ACCESS_TOKEN${said}`, token)
    case 402:
      return fail(`the platform requires a payment, or a verified account${said}`, 'check your account on the platform')
    case 403:
      return fail(`ACCESS_TOKEN may not do this to app ${app}${said}`, `${token}; its owner needs access to the app`)
    case 404:
      return fail(
        `${apiUrl} does not have the app ${app}, or the resource of ${request}${said}`,
        'create the app, or correct APP',
      )
    case 429:
      return fail(`too many requests to ${apiUrl}${said}`, waitHint(answer))
    default:
      if (status >= 500)
        return fail(`the platform failed (${status})${said}`, 'check its status page, and run this again later')
      if (status >= 400)
        return fail(
          `the platform refuses ${request} (${status})${said}`,
          'correct the reported problem, and run this again',
        )
      return fail(`${apiUrl} does not answer like the platform’s API (${status})`, 'check PLATFORM_API_URL')
  }
}

/** The platform's error is `{id, message, url?}`. */
function platformMessage(text: string): string {
  try {
    const { message, url } = JSON.parse(text) as { message?: unknown; url?: unknown }
    if (typeof message === 'string') return `: ${message}${typeof url === 'string' ? ` (${url})` : ''}`
  } catch {}
  return ''
}

function waitHint({ headers }: Answer): string {
  const seconds = headers.get('retry-after')
  return seconds ? `run this again in ${seconds} s` : 'run this again in a few minutes'
}
