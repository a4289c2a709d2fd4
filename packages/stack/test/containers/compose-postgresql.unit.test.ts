import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { repository } from '../../src/application/paths.ts'
import { defaultPorts, sidecarOf, storedServices } from '../../src/application/services.ts'
import { postgresqlFile, variableOf } from '../../src/containers/project.ts'
import { type Service, services } from './compose-file.ts'

describe('docker-compose.postgresql.yml', () => {
  const overrides = readFileSync(join(repository, postgresqlFile), 'utf8')
  const customTags = [{ tag: '!reset', resolve: () => null }]
  const added = (parse(overrides, { merge: true, customTags }) as { services: Record<string, Service | null> }).services

  it('replaces MongoDB by PostgreSQL, and publishes PostgreSQL’s port only on loopback', () => {
    expect(Object.keys(services)).to.include('mongo')
    expect(added.mongo).to.equal(null)
    expect(added.postgresql?.ports).to.deep.equal([`127.0.0.1:\${POSTGRESQL_PORT:-${defaultPorts.postgresql}}:5432`])
  })

  it('gives PostgreSQL’s address only to setup and sidecars', () => {
    const withConnection = Object.entries(added).filter(([, service]) => service?.environment?.State__ConnectionString)
    expect(withConnection.map(([name]) => name)).to.have.members(['setup', ...storedServices.map(sidecarOf)])
    for (const service of storedServices) {
      const theirs = services[sidecarOf(service)]?.command?.map((flag) => flag.replace('mongodb', 'postgresql'))
      expect(added[sidecarOf(service)]?.command).to.deep.equal(theirs)
    }
  })

  it('gives each sidecar its own user, and the user with all rights only to setup', () => {
    for (const service of storedServices) {
      const uri = String(added[sidecarOf(service)]?.environment?.State__ConnectionString)
      const password = `\${${variableOf(service, 'STORE_PASSWORD')}:?is not set; see .env.example}`
      expect(uri)
        .to.match(/^postgres:/)
        .and.to.contain(`//${service.name}.store:${password}@`)
    }
    const withAllRights = Object.entries(added).filter(([, service]) =>
      /POSTGRESQL_PASSWORD/.test(JSON.stringify(service?.environment ?? {})),
    )
    expect(withAllRights.map(([name]) => name)).to.have.members(['postgresql', 'setup'])
  })

  it('contains default values for ports, but not for secrets', () => {
    const withDefault = [...overrides.matchAll(/\$\{(\w+):-/g)].map(([, name]) => name)
    expect(withDefault).to.deep.equal(['POSTGRESQL_PORT'])
    for (const [, rest] of overrides.matchAll(/\$\{POSTGRESQL_PASSWORD(.)/g)) expect(rest).to.equal(':')
  })
})
