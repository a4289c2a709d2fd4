import { createHash } from 'node:crypto'
import { CliError } from '../../base/error.ts'
import type { Answer, Send } from './http.ts'
import type { Operator } from './operator.ts'

const dockerManifest = 'application/vnd.docker.distribution.manifest.v2+json'
/** Types of manifests that newer builders push and the platform refuses. Requests accept these types only so that an error can name them. */
const others = [
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
]

interface Manifest {
  mediaType?: string
  schemaVersion?: number
  config?: { mediaType?: string; digest?: string }
}

export type Registry = ReturnType<typeof createRegistry>

/** Logs in as user `_`, with the API token as the password. */
export function createRegistry({ registry, app, token }: Operator, send: Send) {
  const get = (path: string, accept: string): Promise<Answer> =>
    send({
      method: 'GET',
      url: `https://${registry}/v2/${path}`,
      headers: { Accept: accept, Authorization: `Basic ${Buffer.from(`_:${token}`).toString('base64')}` },
      idempotent: true,
      setting: 'PLATFORM_REGISTRY',
    })

  return {
    requireAccess: async () => {
      requireSuccess(await get('', '*/*'), registry)
    },
    /**
     * Returns the digest of the pushed image's configuration, which a release needs.
     * @param id the id of the image that this machine built and checked
     * @throws {CliError} `image` if the registry has another image, or a type that the platform refuses
     */
    imageDigest: async (id: string) => {
      const answer = await get(`${app}/web/manifests/latest`, [dockerManifest, ...others].join(', '))
      requireSuccess(answer, registry)
      const digest = acceptableDigest(JSON.parse(answer.text) as Manifest, answer.headers.get('content-type') ?? '')
      // The engine's id of an image is the digest of its configuration. With the containerd image store, it is the digest of its manifest.
      const manifestDigest = `sha256:${createHash('sha256').update(answer.text).digest('hex')}`
      if (id === digest || id === manifestDigest) return digest
      throw new CliError('image', `${registry}/${app}/web is ${digest}, but the checked image is ${id}`, {
        nextStep: 'find out who else pushes to this app',
      })
    },
  }
}

function requireSuccess({ status }: Answer, registry: string): void {
  if (status === 200) return
  if (status === 401 || status === 403) {
    throw new CliError('registry', `${registry} does not accept ACCESS_TOKEN`, {
      nextStep: 'set ACCESS_TOKEN to a token of the platform that PLATFORM_REGISTRY belongs to',
      status,
    })
  }
  throw new CliError('registry', `${registry} does not answer like a registry (${status})`, {
    nextStep: status >= 500 ? 'run this again later' : 'check PLATFORM_REGISTRY',
    status,
  })
}

function acceptableDigest({ mediaType, schemaVersion, config }: Manifest, contentType: string): string {
  const type = mediaType ?? contentType
  if (type !== dockerManifest || schemaVersion !== 2 || !config?.digest) {
    throw new CliError('image', `the pushed image is a ${type}; the platform accepts only Docker image manifests`, {
      nextStep: 'switch off the containerd image store of your Docker engine, and run this again',
    })
  }
  return config.digest
}
