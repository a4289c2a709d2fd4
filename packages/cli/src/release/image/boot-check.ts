import { repository } from '../../lib/paths.ts'
import { newSecret } from '../../lib/secret.ts'
import { ReleaseError } from '../lib/error.ts'
import { pause } from '../lib/pause.ts'
import { docker } from './docker.ts'
import { owned, removeOrphans } from './orphans.ts'

/** The platform ends a container that has not bound $PORT by then. */
const bootTimeoutMs = 60_000
/** Between SIGTERM and SIGKILL. */
const stopTimeoutSeconds = 30

/** Not the service's usual port, so that an image that ignores $PORT fails. */
const port = 23_456
const settings = {
  PORT: String(port),
  // Without a network the sidecar cannot find its own address.
  DAPR_HOST_IP: '127.0.0.1',
  Stream__Brokers: 'not-used:9092',
  State__ConnectionString: 'mongodb://not-used/?replicaSet=none',
  // Nobody reaches it.
  Auth__Mode: 'open',
  Trust__SigningKeys: newSecret(),
}
/** Up, and nothing is missing but the stream: without a network there is no Kafka to ask. */
const probe = `const ask = async (path) => (await fetch('http://127.0.0.1:${port}/' + path)).json()
Promise.all(['healthz', 'readyz'].map(ask)).then(([{ status }, { missing = {} }]) => {
  process.exit(status === 'up' && Object.keys(missing).every((part) => part === 'stream') ? 0 : 1)
}, () => process.exit(1))`

export interface Boot {
  bootMs: number
  stopMs: number
}

/**
 * Starts an image as the platform does, as an arbitrary user and with a `$PORT`, but without a network and with a stream and
 * a store inside its sidecar, until service and sidecar answer; then stops it with SIGTERM.
 * @throws {ReleaseError} `image` with its last lines when it does not boot or stop in time
 */
export async function requireBoot(app: string, image: string, signal?: AbortSignal): Promise<Boot> {
  await removeOrphans()
  const name = `orderflow-boot-check-${app}-${process.pid}`
  const env = Object.entries(settings).flatMap(([variable, value]) => ['--env', `${variable}=${value}`])
  await docker(['create', '--name', name, ...owned, '--network', 'none', '--user', '54321:54321', ...env, image], {
    signal,
  })
  try {
    await docker(['cp', `${repository}/packages/cli/release-image/boot-check/.`, `${name}:/app/components/`], {
      signal,
    })
    const bootMs = await timed(async () => {
      await docker(['start', name], { signal })
      await untilUp(name, signal)
    })
    const stopMs = await timed(() => docker(['stop', '-t', String(stopTimeoutSeconds), name], { signal }))
    const status = await stateOf(name, '{{.State.ExitCode}}')
    if (status === '0') return { bootMs, stopMs }
    throw await failure(name, `the image ends with status ${status} after SIGTERM, not with 0`)
  } finally {
    await docker(['rm', '--force', name]).catch(() => {})
  }
}

async function untilUp(name: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + bootTimeoutMs
  while (!(await answers(name, signal))) {
    if ((await stateOf(name, '{{.State.Running}}')) !== 'true')
      throw await failure(name, 'the image ends when it is started')
    if (Date.now() > deadline)
      throw await failure(name, `the image does not answer on $PORT in ${bootTimeoutMs / 1000} s`)
    await pause(200, signal)
  }
}

async function answers(name: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await docker(['exec', name, 'node', '-e', probe], { signal })
    return true
  } catch (error) {
    if (error instanceof ReleaseError && error.code === 'interrupted') throw error
    return false
  }
}

async function stateOf(name: string, format: string): Promise<string> {
  return (await docker(['inspect', '--format', format, name])).trim()
}

async function failure(name: string, message: string): Promise<ReleaseError> {
  const lines: string[] = []
  await docker(['logs', '--tail', '20', name], { onLine: (line) => lines.push(line) })
  return new ReleaseError('image', `${message}; its last lines:\n${lines.join('\n')}`, {
    nextStep: 'mend the service; make test has its tests',
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
