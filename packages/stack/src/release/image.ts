import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '../application/paths.ts'
import { consumerComponents, publishingComponent, type Service } from '../application/services.ts'
import { newSecret } from '../base/credentials.ts'
import { CliError } from '../base/error.ts'
import { replaceFile } from '../base/files.ts'
import { pause, type RunToolOptions } from '../base/run-tool.ts'
import { docker, owned, removeOrphans } from './docker.ts'

interface ImageFacts {
  Os: string
  Architecture: string
  Size: number
  Config: { User?: string }
  /** Undefined for engines without the containerd image store. */
  Descriptor?: { mediaType: string }
}

type Watch = Required<Pick<RunToolOptions, 'onLine'>> & Pick<RunToolOptions, 'signal'>

/** @throws {CliError} `docker` without an engine or a valid login to the registry */
export async function requireEngine(registry: string, signal?: AbortSignal): Promise<string> {
  const version = await docker(['version', '--format', '{{.Server.Version}}'], { signal }).catch((error: CliError) => {
    if (error.nextStep || error.code === 'interrupted') throw error
    throw new CliError('docker', error.message, {
      nextStep: 'start the Docker engine, and check that you may use it',
    })
  })
  // Without a password, `docker login` checks the stored credentials.
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
 * Builds a release image without attestations, because the platform's registry refuses them.
 * @returns the image's id, which stays valid if another image gets the same name
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
 * @returns the size in bytes
 * @throws {CliError} `image`
 */
export async function requireAcceptable(image: string): Promise<number> {
  const [facts] = JSON.parse(await docker(['image', 'inspect', image])) as ImageFacts[]
  if (!facts) throw new CliError('image', `the image ${image} does not exist`)
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
      nextStep: 'switch off the containerd image store of your Docker engine, and run this again',
    })
  }
  return facts.Size
}

/** @throws {CliError} `registry` */
export async function pushImage(id: string, image: string, { onLine, signal }: Watch): Promise<void> {
  await docker(['tag', id, image], { signal })
  await docker(['push', image], { onLine, signal }).catch((error: CliError) => {
    if (error.code === 'interrupted') throw error
    throw new CliError('registry', `the image could not be pushed: ${error.message}`, {
      nextStep: 'check that the app is a container app and that you are logged in as its owner, and run this again',
    })
  })
}

/** The platform stops a container that does not listen on $PORT within this time after its start. */
const bootTimeoutMs = 60_000
/** The platform's time between SIGTERM and SIGKILL. */
const stopTimeoutSeconds = 30

/** Differs from the service's default port, so that an image that ignores $PORT fails. */
const bootPort = 23_456
const bootSettings = {
  PORT: String(bootPort),
  // daprd finds its own address only in a network.
  DAPR_HOST_IP: '127.0.0.1',
  Stream__Brokers: 'not-used:9092',
  State__ConnectionString: 'mongodb://not-used/?replicaSet=none',
  // Switches authentication off, because only this container can call the service.
  Auth__Mode: 'open',
  Trust__SigningKeys: newSecret(),
}
/** Checks that the service and its sidecar run, without the stream. */
const probe = `fetch('http://127.0.0.1:${bootPort}/readyz?exclude=stream').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`

/**
 * Starts an image as the platform does: as an arbitrary user and with `$PORT`. The container has no network, so components in memory
 * replace stream and store.
 * @throws {CliError} `image` with the container's last log lines if it does not start or stop in time
 */
export async function requireBoot(app: string, image: string, signal?: AbortSignal) {
  await removeOrphans()
  const name = `orderflow-boot-check-${app}-${process.pid}`
  const env = Object.entries(bootSettings).flatMap(([variable, value]) => ['--env', `${variable}=${value}`])
  await docker(['create', '--name', name, ...owned, '--network', 'none', '--user', '54321:54321', ...env, image], {
    signal,
  })
  try {
    await replaceComponents(name, signal)
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

/** Replaces the stream and the store of a container by components in the memory of its sidecar. */
async function replaceComponents(container: string, signal?: AbortSignal): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-boot-check-'))
  try {
    for (const [path, text] of memoryComponents()) replaceFile(join(folder, path), text)
    await docker(['cp', `${folder}/.`, `${container}:/app/components/`], { signal })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the files that replace those in `components/`. */
export function memoryComponents(): [path: string, text: string][] {
  const streams = [publishingComponent, ...consumerComponents].map((name) => componentFile(name, 'pubsub.in-memory'))
  const inMemory = '\n    - { name: connectionString, value: ":memory:" }'
  return [
    ['kafka.yaml', streams.join('---\n')],
    ['mongodb/statestore.yaml', componentFile('statestore', 'state.sqlite', inMemory)],
  ]
}

function componentFile(name: string, type: string, metadata = ' []'): string {
  return `apiVersion: dapr.io/v1alpha1
kind: Component
metadata:
  name: ${name}
spec:
  type: ${type}
  version: v1
  metadata:${metadata}
`
}

async function untilUp(name: string, signal?: AbortSignal): Promise<void> {
  const deadline = Date.now() + bootTimeoutMs
  while (!(await answers(name, signal))) {
    if ((await stateOf(name, '{{.State.Running}}')) !== 'true')
      throw await bootFailure(name, 'the image exits after its start')
    if (Date.now() > deadline)
      throw await bootFailure(name, `the image does not answer on $PORT in ${bootTimeoutMs / 1000} s`)
    await pause(200, signal)
  }
}

async function answers(name: string, signal?: AbortSignal): Promise<boolean> {
  try {
    await docker(['exec', name, 'node', '--no-use-env-proxy', '-e', probe], { signal })
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
