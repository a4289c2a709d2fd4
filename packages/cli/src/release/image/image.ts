import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '../../lib/paths.ts'
import { ReleaseError } from '../lib/error.ts'
import type { Service } from '../settings/services.ts'
import { docker } from './docker.ts'

interface ImageFacts {
  Os: string
  Architecture: string
  Size: number
  Config: { User?: string }
  /** Of engines with the containerd image store. */
  Descriptor?: { mediaType: string }
}

export interface Watch {
  onLine: (line: string) => void
  signal?: AbortSignal | undefined
}

/** @throws {ReleaseError} `docker` when there is no engine, or no login to the registry that still works */
export async function requireEngine(registry: string, signal?: AbortSignal): Promise<string> {
  const version = await docker(['version', '--format', '{{.Server.Version}}'], { signal }).catch(
    (error: ReleaseError) => {
      if (error.nextStep || error.code === 'interrupted') throw error
      throw new ReleaseError('docker', error.message, {
        nextStep: 'start the Docker engine, and see that you may use it',
      })
    },
  )
  // With the credentials it has stored and no terminal to ask at, this is the question whether they work.
  await docker(['login', registry], { signal }).catch((error: ReleaseError) => {
    if (error.code === 'interrupted') throw error
    throw new ReleaseError('docker', `docker is not logged in to ${registry}`, {
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
 * @throws {ReleaseError} `image`
 */
export async function requireAcceptable(image: string): Promise<number> {
  const [facts] = JSON.parse(await docker(['image', 'inspect', image])) as ImageFacts[]
  if (!facts) throw new ReleaseError('image', `there is no image ${image}`)
  const platform = `${facts.Os}/${facts.Architecture}`
  if (platform !== 'linux/amd64') {
    throw new ReleaseError('image', `the image is for ${platform}; the platform runs linux/amd64`, {
      nextStep: 'let your Docker engine build for linux/amd64',
    })
  }
  if (/^(|0|root)(:|$)/.test(facts.Config.User ?? '')) {
    throw new ReleaseError('image', 'the image runs as root', { nextStep: 'give its Dockerfile a USER' })
  }
  if (facts.Descriptor && /index|list|oci/.test(facts.Descriptor.mediaType)) {
    throw new ReleaseError('image', `the image is a ${facts.Descriptor.mediaType}, which the platform refuses`, {
      nextStep: 'turn off the containerd image store of your Docker engine, and run this again',
    })
  }
  return facts.Size
}

/**
 * Pushes the image with this id under this name.
 * @throws {ReleaseError} `registry`
 */
export async function pushImage(id: string, image: string, { onLine, signal }: Watch): Promise<void> {
  await docker(['tag', id, image], { signal })
  await docker(['push', image], { onLine, signal }).catch((error: ReleaseError) => {
    if (error.code === 'interrupted') throw error
    throw new ReleaseError('registry', `the image could not be pushed: ${error.message}`, {
      nextStep: 'see that the app is a container app and the login is its owner’s, and run this again',
    })
  })
}
