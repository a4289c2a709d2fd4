import { serviceImage } from '@orderflow/stack/internals'
import { images } from '@orderflow/stack/machine'
import { expect } from 'chai'
import { readManifest } from './addons.ts'
import { fullName } from './images/names.ts'
import { strimziArtifacts } from './programs/definitions.ts'
import { pinnedModules, readHashes } from './programs/programs.ts'

describe('hashes.json of the cluster', () => {
  it('contains the hash of each Go module, and no others (if this test fails: make -C tools hashes)', () => {
    expect(Object.keys(readHashes())).to.have.members([...pinnedModules(), ...strimziArtifacts])
  })
})

describe('fullName', () => {
  it('adds the registry, the folder and the tag that a name leaves out', () => {
    expect([images.postgresql, images.kafka, serviceImage('setup'), 'example.org:5000/a'].map(fullName)).to.deep.equal([
      `docker.io/library/${images.postgresql}`,
      `docker.io/${images.kafka}`,
      `${serviceImage('setup')}:latest`,
      'example.org:5000/a:latest',
    ])
  })
})

describe('readManifest', () => {
  it('refuses a manifest without one of its values', () => {
    expect(() => readManifest('coredns', { image: 'a' })).to.throw('manifests/coredns.yaml needs a value for address')
  })
})
