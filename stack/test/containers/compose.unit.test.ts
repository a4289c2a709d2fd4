import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { replicaServices } from '../../src/containers/replicas.ts'
import { brokerProperties } from '../../src/kafka/broker.ts'
import { repository, versions } from '../../src/lib/paths.ts'
import { defaultPorts } from '../../src/processes/ports.ts'
import { daprdArguments } from '../../src/processes/process-spec.ts'

interface Service {
  image: string
  ports?: string[]
  command?: string[]
  environment?: Record<string, unknown>
  [key: string]: unknown
}

const text = readFileSync(join(repository, 'docker-compose.yml'), 'utf8')
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> }
const ours = Object.keys(services).filter((name) => name !== 'kafka' && name !== 'mongo')

describe('docker-compose.yml', () => {
  it('has the versions of stack/versions.json', () => {
    expect(services.kafka?.image).to.equal(`apache/kafka:${versions.kafka}`)
    expect(services['order-sidecar']?.image).to.equal(`daprio/daprd:${versions.dapr}`)
    const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')
    expect(dockerfile).to.contain(`FROM node:${versions.node}-bookworm-slim AS`)
    expect(dockerfile).to.contain(`FROM daprio/daprd:${versions.dapr} AS`)
  })

  it('publishes ports on loopback only', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports)
    expect(published).to.have.length(6)
    for (const port of published) expect(port).to.match(/^127\.0\.0\.1:\$\{\w+_PORT:-\d+\}:\d+$/)
  })

  it('has a default for ports and for no secret', () => {
    const withDefault = [...text.matchAll(/\$\{(\w+):-/g)].map(([, name]) => name ?? '')
    expect(withDefault.filter((name) => !name.endsWith('_PORT'))).to.deep.equal([])
  })

  it('runs our own containers without privilege and without writing to their images', () => {
    for (const name of ours) {
      expect(services[name], name).to.deep.include({ user: '10001:10001', read_only: true, cap_drop: ['ALL'] })
      expect(services[name]?.security_opt, name).to.deep.equal(['no-new-privileges:true'])
    }
  })

  for (const role of ['order', 'payment'] as const) {
    it(`starts the sidecar of ${role}-service as the local stack does`, () => {
      const local = pairs(daprdArguments(`${role}-service`, defaultPorts[role]))
      const here = pairs((services[`${role}-sidecar`]?.command ?? []).slice(1).flatMap((flag) => flag.split('=')))
      const mounted = { '--resources-path': '/components', '--config': '/components/configuration.yaml' }
      expect(here).to.deep.equal({ ...local, ...mounted })
    })
  }

  it('tells a service how to reach Kafka, and only its sidecar how to reach the store', () => {
    for (const role of ['order', 'payment']) {
      const [service, sidecar] = [services[`${role}-service`], services[`${role}-sidecar`]]
      expect(service?.environment?.Stream__Brokers, role).to.equal('kafka:19092')
      expect(service?.environment, role).not.to.include.keys('State__ConnectionString')
      const settings = Object.entries(sidecar?.environment ?? {}).filter(([name]) => name.startsWith('Stream__'))
      expect(service?.environment, role).to.include(Object.fromEntries(settings))
      expect(sidecar?.environment, role).to.include.keys('State__ConnectionString')
    }
  })

  it('configures the broker as the local stack does, but for its listeners and folder', () => {
    const local = Object.entries(brokerProperties(defaultPorts, '/var/lib/kafka/data')).filter(
      ([name]) => !/listener|^controller\./.test(name),
    )
    for (const [name, value] of local) {
      const variable = `KAFKA_${name.toUpperCase().replaceAll('.', '_')}`
      expect(String(services.kafka?.environment?.[variable]), variable).to.equal(String(value))
    }
  })
})

describe('replicas', () => {
  const model = {
    services: {
      'payment-pod': { image: 'p', ports: ['1:1'] },
      'payment-sidecar': { network_mode: 'service:payment-pod', depends_on: { 'payment-pod': {}, setup: {} } },
      'payment-service': {
        build: {},
        network_mode: 'service:payment-pod',
        depends_on: { 'payment-pod': {}, 'payment-sidecar': {} },
      },
    },
  }

  it('are pods, sidecars and services of their own, with no published port', () => {
    expect(replicaServices(model, { 'payment-service': 2 }).services).to.deep.equal({
      'payment-pod-2': { image: 'p' },
      'payment-sidecar-2': { network_mode: 'service:payment-pod-2', depends_on: { 'payment-pod-2': {}, setup: {} } },
      'payment-service-2': {
        network_mode: 'service:payment-pod-2',
        depends_on: { 'payment-pod-2': {}, 'payment-sidecar-2': {} },
      },
    })
  })

  it('are none when a service runs once', () => {
    expect(replicaServices(model, { 'payment-service': 1 }).services).to.deep.equal({})
  })
})

function pairs(flags: string[]): Record<string, string> {
  const names = flags.filter((_, index) => index % 2 === 0)
  return Object.fromEntries(names.map((name, index) => [name, flags[2 * index + 1] ?? '']))
}
