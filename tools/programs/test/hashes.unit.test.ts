import { versions } from '@orderflow/stack/base'
import { hashes } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { pinned } from '../hashes.ts'

describe('packages/stack/hashes.json', () => {
  const jars = [`kafka_2.13-${versions.kafka}.jar`, `kafka-tools-${versions.kafka}.jar`]
  for (const name of [...pinned.go, ...pinned.npm, ...pinned.maven, ...jars]) {
    it(`contains the hash of ${name} (if this test fails: make -C tools hashes)`, () =>
      expect(hashes[name]).to.match(/^(h1:|sha512-)\S+=$/))
  }

  it('contains only hashes of the pinned versions', () => {
    const packages = Object.keys(hashes).filter((name) => !name.endsWith('.jar'))
    expect(packages).to.have.members([...pinned.go, ...pinned.npm, ...pinned.maven])
    expect(Object.keys(hashes).filter((name) => /^kafka\D/.test(name) && !name.includes(versions.kafka))).to.deep.equal(
      [],
    )
  })
})
