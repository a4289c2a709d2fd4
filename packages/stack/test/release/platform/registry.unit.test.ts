import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { Answer, HttpRequest } from '../../../src/release/platform/http.ts'
import { createRegistry } from '../../../src/release/platform/registry.ts'
import { operatorOf, token } from '../support/operator.ts'

const digest = `sha256:${'a'.repeat(64)}`
const accepted = {
  schemaVersion: 2,
  mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
  config: { mediaType: 'application/vnd.docker.container.image.v1+json', digest },
}

function registryThatAnswers(status: number, body: unknown, contentType = 'application/json') {
  const requests: HttpRequest[] = []
  const registry = createRegistry(operatorOf(), async (request): Promise<Answer> => {
    requests.push(request)
    return { status, headers: new Headers({ 'content-type': contentType }), text: JSON.stringify(body) }
  })
  return { registry, requests }
}

describe('createRegistry', () => {
  it('requests the pushed image as the user `_` with the token', async () => {
    const { registry, requests } = registryThatAnswers(200, accepted)
    expect(await registry.imageDigest(digest)).to.equal(digest)
    expect(requests[0]?.url).to.equal('https://localhost:1/v2/my-app/web/manifests/latest')
    expect(requests[0]?.headers.Authorization).to.equal(`Basic ${Buffer.from(`_:${token}`).toString('base64')}`)
  })

  it('recognises an image if the engine names images by the digest of their manifest', async () => {
    const { registry } = registryThatAnswers(200, accepted)
    const manifestDigest = `sha256:${createHash('sha256').update(JSON.stringify(accepted)).digest('hex')}`
    expect(await registry.imageDigest(manifestDigest)).to.equal(digest)
  })

  const refused: Record<string, unknown> = {
    'an OCI index': { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: [] },
    'an OCI image': { ...accepted, mediaType: 'application/vnd.oci.image.manifest.v1+json' },
    'a list of images': { schemaVersion: 2, mediaType: 'application/vnd.docker.distribution.manifest.list.v2+json' },
    'a manifest of the old kind': { schemaVersion: 1, history: [] },
  }
  for (const [what, manifest] of Object.entries(refused)) {
    it(`reports ${what}, which the platform would refuse`, async () => {
      const error = await registryThatAnswers(200, manifest, 'application/x')
        .registry.imageDigest(digest)
        .catch((e) => e)
      expect(error).to.include({ code: 'image' })
      expect(error.message).to.include('the platform accepts only Docker image manifests')
    })
  }

  it('reports a refusal in one message that names the variable to correct', async () => {
    for (const [status, variable] of [
      [401, 'ACCESS_TOKEN'],
      [404, 'PLATFORM_REGISTRY'],
    ] as const) {
      const error = await registryThatAnswers(status, {})
        .registry.requireAccess()
        .catch((e) => e)
      expect(`${error.message} ${error.nextStep}`).to.include(variable).and.not.include(token)
    }
  })
})
