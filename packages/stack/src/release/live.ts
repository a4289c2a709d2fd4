import { CliError } from '../base/error.ts'
import { pause } from '../base/run-tool.ts'
import type { Context } from './context.ts'
import { recentLog } from './logs.ts'
import type { App, Dyno, Release } from './platform/platform.ts'

/** A container must listen within 60 s. The platform also needs time to start it. */
const timeoutMs = 150_000
const pollMs = 1_000
const requestTimeoutMs = 10_000

/**
 * Waits until the newest web process runs, and service and sidecar answer at the app's address.
 * @returns the release's version
 * @throws {CliError} `not-live` with the last log lines if the process crashes, or after a timeout
 */
export async function requireLive(context: Context, app: App): Promise<number> {
  const { signal, out } = context
  const deadline = Date.now() + timeoutMs
  let told = ''
  for (;;) {
    const { version, missing } = await look(context, app)
    if (missing === undefined) return version
    if (missing !== told) out.progress(`waiting: ${missing}`)
    told = missing
    if (Date.now() > deadline) throw await notLive(context, `after ${timeoutMs / 1000} s ${missing}`)
    await pause(pollMs, signal)
  }
}

async function look(context: Context, app: App): Promise<{ version: number; missing?: string }> {
  const { platform } = context
  const release = await platform.newestRelease()
  if (!release) return { version: 0, missing: 'the app has no release' }
  const version = release.version
  if (release.status === 'failed') throw await notLive(context, `release v${version} failed`)
  const missing = dynoMissing(await platform.dynos(), release)
  if (missing === 'crashed') throw await notLive(context, `the web process of v${version} crashed`)
  if (missing) return { version, missing }
  const wrong = app.web_url ? await pageMissing(new URL('readyz', app.web_url), context.signal) : undefined
  return { version, ...(wrong && { missing: wrong }) }
}

function dynoMissing(dynos: Dyno[], { version, status }: Release): string | undefined {
  if (status === 'pending') return `v${version} is being prepared`
  const web = dynos.filter((dyno) => dyno.type === 'web' && dyno.release.version >= version)
  if (web.some(({ state }) => state === 'crashed')) return 'crashed'
  if (web.some(({ state }) => state === 'up' || state === 'idle')) return undefined
  return web[0] ? `${web[0].name} is ${web[0].state}` : `v${version} has no web process yet`
}

async function pageMissing(url: URL, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    })
    await response.body?.cancel()
    return response.status === 200 ? undefined : `${url} answers ${response.status}`
  } catch (error) {
    if (signal.aborted) throw new CliError('interrupted', 'interrupted')
    const reason = ((error as Error).cause ?? error) as NodeJS.ErrnoException
    return `${url} does not answer (${reason.code ?? reason.message})`
  }
}

async function notLive(context: Context, what: string): Promise<CliError> {
  const lines = await recentLog(context.platform, 20).catch(() => [])
  const log = lines.length > 0 ? `; the last lines of its log:\n${lines.join('\n')}` : ''
  return new CliError('not-live', `${what}${log}`, {
    nextStep: `./orderflow app-logs ${context.service.role} --app ${context.operator.app} shows more`,
  })
}
