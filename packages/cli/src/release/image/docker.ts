import { StackError } from '../../lib/error.ts'
import { repository } from '../../lib/paths.ts'
import { runTool } from '../../lib/run-tool.ts'
import { ReleaseError } from '../lib/error.ts'

export interface DockerOptions {
  env?: Record<string, string>
  /** Called for each line of either output. */
  onLine?: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Nothing that docker starts needs to know what the app's secrets are. */
const notForDocker = /^(ACCESS_TOKEN|MAKEFLAGS|MFLAGS|MAKEOVERRIDES|OTEL_EXPORTER_OTLP_\w+|\w+__\w+)$/

/**
 * Runs the docker command, without input, and returns its standard output.
 * @throws {ReleaseError} `docker` with the last lines it printed, `interrupted` when the signal aborts
 */
export async function docker(args: string[], { env = {}, onLine, signal }: DockerOptions = {}): Promise<string> {
  const hidden = Object.keys(process.env).filter((name) => notForDocker.test(name))
  const without = Object.fromEntries(hidden.map((name) => [name, undefined]))
  try {
    return await runTool('docker', args, {
      cwd: repository,
      env: { ...without, ...env },
      ...(onLine && { onLine }),
      signal,
    })
  } catch (error) {
    throw failure(error)
  }
}

function failure(error: unknown): ReleaseError {
  const { message } = error as Error
  if (!(error instanceof StackError)) {
    return new ReleaseError('docker', `docker cannot be run: ${message}`, {
      nextStep: 'install Docker from https://docs.docker.com/engine/install/',
      cause: error,
    })
  }
  return new ReleaseError(error.code === 'interrupted' ? 'interrupted' : 'docker', message, { cause: error })
}
