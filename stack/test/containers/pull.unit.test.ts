import { expect } from 'chai'
import { failure } from '../../src/containers/pull.ts'

describe('a pull that failed', () => {
  const aboutOneImage = [
    'Error response from daemon: manifest for mongo:99 not found: manifest unknown: manifest unknown',
    "Error response from daemon: pull access denied for x, repository does not exist or may require 'docker login'",
    'no matching manifest for linux/arm64/v8 in the manifest list entries',
  ]
  for (const printed of aboutOneImage) {
    it(`is about one image: ${printed}`, () => {
      expect(failure(`docker pull failed (1):\n${printed}\n`)).to.deep.equal({ reason: printed, registry: false })
    })
  }

  const aboutTheRegistry = [
    'Error response from daemon: Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
    'Error response from daemon: Head "https://registry-1.docker.io/v2/library/node/manifests/24": net/http: TLS handshake timeout',
    'toomanyrequests: You have reached your unauthenticated pull rate limit.',
  ]
  for (const printed of aboutTheRegistry) {
    it(`is about the registry, and so all images: ${printed}`, () => {
      expect(failure(printed)).to.deep.equal({ reason: printed, registry: true })
    })
  }
})
