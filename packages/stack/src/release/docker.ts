import { repository } from '../application/paths.ts'
import { select } from '../application/variables.ts'
import { attempt, CliError } from '../base/error.ts'
import { isAlive, self } from '../base/lock.ts'
import { type RunToolOptions, runTool } from '../base/run-tool.ts'

/** Matches the names of variables whose secrets the processes of docker must not see. */
const notForDocker = /^(ACCESS_TOKEN|MAKEFLAGS|MFLAGS|MAKEOVERRIDES|OTEL_EXPORTER_OTLP_\w+|\w+__\w+)$/

/**
 * Runs docker without input. Returns its standard output.
 * @throws {CliError} `docker` with the last lines of its output, `interrupted` if the signal aborts
 */
export async function docker(args: string[], options: Omit<RunToolOptions, 'cwd'> = {}): Promise<string> {
  const environment = select(process.env, (name) => !notForDocker.test(name))
  return await runTool('docker', args, { cwd: repository, environment, ...options }).catch((error: unknown) => {
    throw failure(error)
  })
}

function failure(error: unknown): CliError {
  const { message } = error as Error
  if (!(error instanceof CliError)) {
    return new CliError('docker', `cannot run docker: ${message}`, {
      nextStep: 'install Docker from https://docs.docker.com/engine/install/',
      cause: error,
    })
  }
  return error.code === 'interrupted' ? error : new CliError('docker', message, { cause: error })
}

/** The label of containers and networks that belong to one process. Its value identifies this process. */
const ownerLabel = 'orderflow.owner'

const ownLabel = JSON.stringify(self())

/** Options that make this process the owner of a container or network. */
export const owned = ['--label', `${ownerLabel}=${ownLabel}`]

/** Removes the containers and networks of processes that have ended. */
export async function removeOrphans(): Promise<void> {
  const format = `{{.Label "${ownerLabel}"}}`
  const containers = await docker(['ps', '--all', '--filter', `label=${ownerLabel}`, '--format', format])
  const networks = await docker(['network', 'ls', '--filter', `label=${ownerLabel}`, '--format', format])
  for (const owner of new Set(lines(`${containers}\n${networks}`))) if (!isOwnerAlive(owner)) await removeOf(owner)
}

/** Removes the containers and networks of an owner, by default of this process. */
export async function removeOf(owner = ownLabel): Promise<void> {
  const filter = ['--quiet', '--filter', `label=${ownerLabel}=${owner}`]
  const containers = await docker(['ps', '--all', ...filter])
  for (const id of lines(containers)) await docker(['rm', '--force', '--volumes', id]).catch(() => {})
  const networks = await docker(['network', 'ls', ...filter])
  for (const id of lines(networks)) await docker(['network', 'rm', id]).catch(() => {})
}

const lines = (text: string) => text.split('\n').filter(Boolean)

/** A label of an earlier version is only a pid, which another process may have now. */
const isOwnerAlive = (label: string) => attempt(() => isAlive(JSON.parse(label))) ?? false
