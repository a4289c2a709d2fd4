import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { ReleaseError } from '../lib/error.ts'

export interface DockerOptions {
  cwd?: string
  env?: Record<string, string>
  /** Called for each line of either output. */
  onLine?: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Nothing that docker starts needs to know what the app's secrets are. */
const notForDocker = /^(ACCESS_TOKEN|MAKEFLAGS|MFLAGS|MAKEOVERRIDES|\w+__\w+)$/

/**
 * Runs the docker command, without input, and returns its standard output.
 * @throws {ReleaseError} `docker` with the last lines it printed, `interrupted` when the signal aborts
 */
export async function docker(args: string[], options: DockerOptions = {}): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !notForDocker.test(name))
  const child = spawn('docker', args, {
    cwd: options.cwd,
    env: { ...Object.fromEntries(inherited), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(options.signal && { signal: options.signal }),
  })
  const last: string[] = []
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      last.push(line)
      if (last.length > 20) last.shift()
      options.onLine?.(line)
    })
  }
  const status = await new Promise<number | null | Error>((resolve) => {
    child.once('error', resolve)
    child.once('close', resolve)
  })
  if (status === 0) return output
  if (options.signal?.aborted) throw new ReleaseError('interrupted', 'interrupted')
  if (status instanceof Error) {
    throw new ReleaseError('docker', `docker cannot be run: ${status.message}`, {
      nextStep: 'install Docker from https://docs.docker.com/engine/install/',
    })
  }
  throw new ReleaseError('docker', `docker ${args[0]} failed:\n${last.join('\n')}`)
}
