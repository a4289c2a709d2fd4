import { expect } from 'chai'
import { CliError } from '../../src/base/error.ts'
import { checkHash, hashes } from '../../src/provision/build.ts'

describe('checkHash', () => {
  const [name = ''] = Object.keys(hashes)

  it('accepts a download with the pinned hash', () => checkHash(name, hashes[name] ?? ''))

  it('refuses a download with another hash, and names both hashes', () => {
    expect(() => checkHash(name, 'sha512-other'))
      .to.throw(CliError, `the hash of ${name} is sha512-other, but packages/stack/hashes.json has ${hashes[name]}`)
      .with.property('code', 'wrong-hash')
  })

  it('refuses a download without a known hash', () => {
    expect(() => checkHash('new.jar', 'sha512-any'))
      .to.throw(CliError, 'has no hash of it')
      .with.property('nextStep')
      .that.equals('if you changed the version, run make -C tools hashes')
  })
})
