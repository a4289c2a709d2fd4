import { CliError } from '../base/error.ts'
import { pause } from '../base/run-tool.ts'
import { secretsOf } from './config-vars.ts'
import type { Context } from './context.ts'
import { secureUrl } from './platform/operator.ts'
import type { Platform } from './platform/platform.ts'

const firstLines = 100
/** The number of lines to read again after an interruption: more than an app writes in a second. */
const overlap = 500
const reconnectMs = 1_000

/** Runs `./orderflow app-logs NAME`. When the platform ends a log session, the command opens another one and continues after the last line. */
export async function followLogs({ platform, out, signal }: Context): Promise<void> {
  out.hide(secretsOf(await platform.configVars()))
  const shown = createMemory()
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const lines = isFirst ? firstLines : overlap
    let read = 0
    try {
      for await (const line of openLog(platform, { lines, tail: true }, signal)) {
        read += 1
        if (!isFirst && read <= overlap && shown.has(line)) continue
        shown.add(line)
        out.print(line)
      }
    } catch (error) {
      if (signal.aborted) return
      // Retries only broken connections.
      if (error instanceof CliError && error.code !== 'unreachable') throw error
      out.complain(`log interrupted (${(error as Error).message}), opening it again`)
    }
    await pause(reconnectMs, signal).catch(() => {})
  }
}

/** Remembers the time of the last line, and all lines with this time, to recognize repeated lines. */
function createMemory() {
  let time = ''
  let lines = new Set<string>()
  const timeOf = (line: string) => line.slice(0, line.indexOf(' '))
  return {
    has: (line: string) => timeOf(line) < time || lines.has(line),
    add: (line: string) => {
      if (timeOf(line) !== time) lines = new Set()
      time = timeOf(line)
      lines.add(line)
    },
  }
}

export async function recentLog(platform: Platform, lines: number): Promise<string[]> {
  const found: string[] = []
  for await (const line of openLog(platform, { lines, tail: false })) found.push(line)
  return found
}

async function* openLog(
  platform: Platform,
  options: { lines: number; tail: boolean },
  signal?: AbortSignal,
): AsyncGenerator<string> {
  // The URL is enough: the request needs no token.
  const url = secureUrl('logplex_url', await platform.logUrl({ dyno: 'web', ...options }))
  const response = await fetch(url, { redirect: 'manual', ...(signal && { signal }) })
  if (response.status !== 200 || !response.body)
    throw new Error(`the server of the log answers with status ${response.status}`)
  let rest = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line) yield line
  }
  if (rest) yield rest
}
