import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { services } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'
import {
  type LockedPackage,
  lockedPackages,
  readLock,
  refusedLicenses,
  runtimeFolders,
  runtimePackages,
  shippedPackages,
} from '../sbom.ts'

const lock = readLock()
const withLicense = (license: string | undefined): LockedPackage => {
  return { path: 'node_modules/left', name: 'left', version: '1.0.0', license, integrity: 'sha512-' }
}

describe('refusedLicenses', () => {
  it('accepts the licenses of all packages', () => {
    const packages = lockedPackages(lock)
    expect(packages).to.have.length.above(300)
    expect(refusedLicenses(packages)).to.deep.equal([])
  })

  for (const license of ['GPL-3.0-only', 'AGPL-3.0', '(MIT OR GPL-2.0)', 'SEE LICENSE IN EULA.txt', undefined]) {
    it(`refuses the license ${license}`, () => {
      expect(refusedLicenses([withLicense(license)])).to.deep.equal([`left@1.0.0: ${license ?? 'no license'}`])
    })
  }

  for (const license of ['MIT', 'apache-2.0', '(BSD-3-Clause AND Apache-2.0)', 'MIT OR Apache-2.0']) {
    it(`accepts the license ${license}`, () => expect(refusedLicenses([withLicense(license)])).to.deep.equal([]))
  }
})

describe('shippedPackages', () => {
  it('returns the packages that services and setup import, with their dependencies', () => {
    const names = shippedPackages(lock).map(({ name }) => name)
    expect(names).to.include.members(['@dapr/dapr', '@platformatic/kafka', 'express', 'pino', 'mongodb', 'bson', 'ajv'])
  })

  it('leaves out packages that only tests and measurements need', () => {
    const names = shippedPackages(lock).map(({ name }) => name)
    expect(names).not.to.include.oneOf(['mocha', 'chai', 'testcontainers', 'autocannon', 'typescript'])
  })
})

describe('runtimeFolders', () => {
  it('leaves out packages of make generate for services', () => {
    const folders = services.flatMap(({ folder }) => runtimeFolders(folder))
    const ofGenerate = ['json-schema-to-typescript', 'prettier', 'lodash'].map((name) => `node_modules/${name}`)
    expect(folders).to.include('node_modules/express')
    expect(folders).not.to.include.oneOf(ofGenerate)
    expect(runtimeFolders('packages/cli')).to.include.members(ofGenerate)
  })
})

describe('runtimePackages', () => {
  it('returns no packages whose license is accepted only in tests', () => {
    const workspaces = readdirSync(join(repository, 'packages')).map((name) => join('packages', name))
    const names = runtimePackages(lock, workspaces).map(({ name }) => name)
    expect(names).to.include.members(['express', '@types/express', 'testcontainers', 'json-schema-to-typescript'])
    expect(names).not.to.include('axe-core')
  })
})
