import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newSecret } from '../lib/credentials.ts'
import { CliError } from '../lib/error.ts'
import { repository } from '../lib/paths.ts'
import { pause } from '../lib/poll.ts'
import type { Service } from '../lib/services.ts'
import { docker, owned, removeOrphans } from './docker.ts'

interface ImageFacts {
  Os: string
  Architecture: string
  Size: number
  Config: { User?: string }
  /** Only engines with the containerd image store have it. */
  Descriptor?: { mediaType: string }
}

interface Watch {
  onLine: (line: string) => void
  signal?: AbortSignal | undefined
}

/** @throws {CliError} `docker` when there is no engine, or no login to the registry that still works */
export async function requireEngine(registry: string, signal?: AbortSignal): Promise<string> {
  const version = await docker(['version', '--format', '{{.Server.Version}}'], { signal }).catch((error: CliError) => {
    if (error.nextStep || error.code === 'interrupted') throw error
    throw new CliError('docker', error.message, {
      nextStep: 'start the Docker engine, and see that you may use it',
    })
  })
  // With the credentials it has stored and no terminal to ask at, this is the question whether they work.
  await docker(['login', registry], { signal }).catch((error: CliError) => {
    if (error.code === 'interrupted') throw error
    throw new CliError('docker', `docker is not logged in to ${registry}`, {
      nextStep: `printenv ACCESS_TOKEN | docker login --username=_ --password-stdin ${registry}`,
      cause: error,
    })
  })
  return version.trim()
}

/**
 * Builds a service's release image, without the attestations that the platform's registry refuses.
 * @returns its id; its name may be given to another image at any time
 */
export async function buildImage(service: Service, image: string, { onLine, signal }: Watch): Promise<string> {
  const args = ['--platform', 'linux/amd64', '--build-arg', `SERVICE=${service.folder}`, '--target', 'release']
  const env = { BUILDX_NO_DEFAULT_ATTESTATIONS: '1' }
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-image-id-'))
  const idFile = join(folder, 'id')
  try {
    await docker(['build', ...args, '-t', image, '--iidfile', idFile, repository], { env, onLine, signal })
    return readFileSync(idFile, 'utf8').trim()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Checks before a push whether the platform takes an image.
 * @returns its size in bytes
 * @throws {CliError} `image`
 */
export async function requireAcceptable(image: string): Promise<number> {
  const [facts] = JSON.parse(await docker(['image', 'inspect', image])) as ImageFacts[]
  if (!facts) throw new CliError('image', `there is no image ${image}`)
  const platform = `${facts.Os}/${facts.Architecture}`
  if (platform !== 'linux/amd64') {
    throw new CliError('image', `the image is for ${platform}; the platform runs linux/amd64`, {
      nextStep: 'let your Docker engine build for linux/amd64',
    })
  }
  if (/^(|0|root)(:|$)/.test(facts.Config.User ?? '')) {
    throw new CliError('image', 'the image runs as root', { nextStep: 'give its Dockerfile a USER' })
  }
  if (facts.Descriptor && /index|list|oci/.test(facts.Descriptor.mediaType)) {
    throw new CliError('image', `the image is a ${facts.Descriptor.mediaType}, which the platform refuses`, {
      nextStep: 'turn off the containerd image store of your Docker engine, and run this again',
    })
  }
  return facts.Size
}

/**
 * Pushes the image with this id under this name.
 * @throws {CliError} `registry`
 */
export async function pushImage(id: string, image: string, { onLine, signal }: Watch): Promise<void> {
  await docker(['tag', id, image], { signal })
  await docker(['push', image], { onLine, signal }).catch((error: CliError) => {
    if (error.code === 'interrupted') throw error
    throw new CliError('registry', `the image could not be pushed: ${error.message}`, {
      nextStep: 'see that the app is a container app and the login is its owner’s, and run this again',
    })
  })
}

/** The platform ends a container that has not bound $PORT by then. */
const bootTimeoutMs = 60_000
/** Between SIGTERM and SIGKILL. */
const stopTimeoutSeconds = 30

/** Not the service's usual port, so that an image that ignores $PORT fails. */
const bootPort = 23_456
const bootSettings = {
  PORT: String(bootPort),
  // Without a network the sidecar cannot find its own address.
  DAPR_HOST_IP: '127.0.0.1',
  Stream__Brokers: 'not-used:9092',
  State__ConnectionString: 'mongodb://not-used/?replicaSet=none',
  // Nobody reaches it.
  Auth__Mode: 'open',
  Trust__SigningKeys: newSecret(),
}
/** Up, and nothing is missing but the stream: without a network there is no Kafka to ask. */
const probe = `const ask = async (path) => (await fetch('http://127.0.0.1:${bootPort}/' + path)).json()
Promise.all(['healthz', 'readyz'].map(ask)).then(([{ status }, { missing = {} }]) => {
  process.exit(status === 'up' && Object.keys(missing).every((part) => part === 'stream') ? 0 : 1)
}, () => process.exit(1))`

interface Boot {
  bootMs: number
  stopMs: number
}

/**
 * Starts an image as the platform does, as an arbitrary user and with a `$PORT`, but without a network and with a stream and
 * a store inside its sidecar, until service and sidecar answer; then stops it with SIGTERM.
 * @throws {CliError} `image` with its last lines when it does not boot or stop in time
 */
export async function requireBoot(app: string, image: string, signal?: AbortSignal): Promise<Boot> {
  await removeOrphans()
  const name = `orderflow-boot-check-${app}-${process.pid}`
  const env = Object.entries(bootSettings).flatMap(([variable, value]) => ['--env', `${variable}=${value}`])
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
    throw await bootFailure(name, `the image ends with status ${status} after SIGTERM, not with 0`)
  } finally {
    await docker(['rm', '--force', name]).catch(() => {})
  }
}

async function untilUp(name: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + bootTimeoutMs
  while (!(await answers(name, signal))) {
    if ((await stateOf(name, '{{.State.Running}}')) !== 'true')
      throw await bootFailure(name, 'the image ends when it is started')
    if (Date.now() > deadline)
      throw await bootFailure(name, `the image does not answer on $PORT in ${bootTimeoutMs / 1000} s`)
    await pause(200, signal)
  }
}

async function answers(name: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await docker(['exec', name, 'node', '-e', probe], { signal })
    return true
  } catch (error) {
    if (error instanceof CliError && error.code === 'interrupted') throw error
    return false
  }
}

async function stateOf(name: string, format: string): Promise<string> {
  return (await docker(['inspect', '--format', format, name])).trim()
}

async function bootFailure(name: string, message: string): Promise<CliError> {
  const lines: string[] = []
  await docker(['logs', '--tail', '20', name], { onLine: (line) => lines.push(line) })
  return new CliError('image', `${message}; its last lines:\n${lines.join('\n')}`, {
    nextStep: 'correct the service; make test runs its tests',
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
