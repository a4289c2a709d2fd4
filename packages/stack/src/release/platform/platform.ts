import { attempt, CliError } from '../../base/error.ts'
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

/** The platform's API for one app. Every method throws a `CliError`. */
export type Platform = ReturnType<typeof createPlatform>

/** Returns undefined if the app has no release. */
export async function findWeb(platform: Pick<Platform, 'formation'>): Promise<Formation | undefined> {
  return (await platform.formation()).find(({ type }) => type === 'web')
}

export function createPlatform(operator: Operator, send: Send) {
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
    const body = attempt((): Body => JSON.parse(answer.text))
    if (body !== undefined) return body
    throw platformFailure(answer, operator, `${args[0]} ${args[1] || '/'}`)
  }

  return {
    app: () => json<App>('GET', ''),
    configVars: () => json<ConfigVars>('GET', '/config-vars'),
    /** Sets config vars, and removes those with null. The app restarts after a change. */
    patchConfigVars: (body: Record<string, string | null>) => json<ConfigVars>('PATCH', '/config-vars', { body }),
    newestRelease: async () => {
      const headers = { Range: 'version ..; max=1, order=desc' }
      return (await json<Release[]>('GET', '/releases', { headers }))[0]
    },
    /** Creates a release with the image and config vars of an earlier one. */
    rollBack: (release: string) => json<Release>('POST', '/releases', { body: { release } }),
    formation: () => json<Formation[]>('GET', '/formation'),
    /** Releases an image as process type web. The digest is that of the image's configuration. */
    releaseImage: async (digest: string) => {
      const body = { updates: [{ type: 'web', docker_image: digest }] }
      await request('PATCH', '/formation', { accept: dockerReleases, body })
    },
    /** Restores the state from before the first image. */
    removeImage: async () => {
      await request('PATCH', '/formation/web', { accept: dockerReleases, body: { docker_image: null } })
    },
    scaleWeb: async (quantity: number) => {
      await request('PATCH', '/formation', { body: { updates: [{ type: 'web', quantity }] } })
    },
    dynos: () => json<Dyno[]>('GET', '/dynos'),
    stopDyno: async (name: string) => {
      await request('POST', `/dynos/${name}/actions/stop`, { idempotent: true })
    },
    /** Returns a URL that is valid for a few minutes and needs no token. The request can be repeated, because additional sessions do no harm. */
    logUrl: async (body: { dyno?: string; lines: number; tail: boolean }) =>
      (await json<{ logplex_url: string }>('POST', '/log-sessions', { body, idempotent: true })).logplex_url,
  }
}

const token = 'create a token with the platform’s tool (heroku authorizations:create) and set ACCESS_TOKEN'

function platformFailure(answer: Answer, operator: Operator, request: string): CliError {
  const { status } = answer
  const { apiUrl, app } = operator
  const said = platformMessage(answer.text)
  const fail = (message: string, nextStep: string) => new CliError('platform', message, { nextStep, status })
  const known: Record<number, [message: string, nextStep: string]> = {
    401: [`${apiUrl} does not accept ACCESS_TOKEN`, token],
    402: ['the platform requires a payment, or a verified account', 'check your account on the platform'],
    403: [`ACCESS_TOKEN may not do this to app ${app}`, `${token}; its owner needs access to the app`],
    404: [`${apiUrl} does not have the app ${app}, or the resource of ${request}`, 'create the app, or correct APP'],
    429: [`too many requests to ${apiUrl}`, waitHint(answer)],
  }
  const [message, nextStep] = known[status] ?? []
  if (message && nextStep) return fail(message + said, nextStep)
  if (status >= 500)
    return fail(`the platform failed (${status})${said}`, 'check its status page, and run this again later')
  const correct = 'correct the reported problem, and run this again'
  if (status >= 400) return fail(`the platform refuses ${request} (${status})${said}`, correct)
  return fail(`${apiUrl} does not answer like the platform’s API (${status})`, 'check PLATFORM_API_URL')
}

/** The platform's error is `{id, message, url?}`. */
function platformMessage(text: string): string {
  const { message, url } = attempt((): { message?: unknown; url?: unknown } => JSON.parse(text)) ?? {}
  return typeof message === 'string' ? `: ${message}${typeof url === 'string' ? ` (${url})` : ''}` : ''
}

function waitHint({ headers }: Answer): string {
  const seconds = headers.get('retry-after')
  return seconds ? `run this again in ${seconds} s` : 'run this again in a few minutes'
}
