import { expect } from 'chai'
import { pinned } from '../../src/commands/hashes.ts'
import { CliError } from '../../src/lib/error.ts'
import { versions } from '../../src/lib/paths.ts'
import { checkHash, hashes } from '../../src/provision/build.ts'

describe('packages/cli/hashes.json', () => {
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

describe('checkHash', () => {
  const [name = ''] = pinned.npm

  it('accepts a download with the pinned hash', () => checkHash(name, hashes[name] ?? ''))

  it('refuses a download with another hash, and names both hashes', () => {
    expect(() => checkHash(name, 'sha512-other'))
      .to.throw(CliError, `the hash of ${name} is sha512-other, but packages/cli/hashes.json has ${hashes[name]}`)
      .with.property('code', 'wrong-hash')
  })

  it('refuses a download without a known hash', () => {
    expect(() => checkHash('new.jar', 'sha512-any'))
      .to.throw(CliError, 'has no hash of it')
      .with.property('nextStep')
      .that.equals('if you changed the version, run ./orderflow hashes')
  })
})
