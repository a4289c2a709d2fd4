import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSecretName } from '@orderflow/service-kit/setup'
import { expect } from 'chai'
import { images, serviceImage } from '../../src/application/images.ts'
import { jaegerVariables } from '../../src/application/jaeger.ts'
import { repository, versions } from '../../src/application/paths.ts'
import {
  defaultPorts,
  entryOf,
  services as registered,
  sidecarOf,
  storedServices,
} from '../../src/application/services.ts'
import { variableOf } from '../../src/containers/project.ts'
import { podOf } from '../../src/containers/replicas.ts'
import { sidecarMemory } from '../../src/processes/process/spec.ts'
import { ours, services, text } from './compose-file.ts'

describe('docker-compose.yml', () => {
  it('uses the versions of packages/stack/versions.json', () => {
    expect(services.kafka?.image).to.equal(`apache/kafka:${versions.kafka}`)
    expect(services.jaeger?.image).to.equal(images.jaeger)
    expect(services.prometheus?.image).to.equal(images.prometheus)
    expect(services.grafana?.image).to.equal(images.grafana)
    for (const service of registered) {
      expect(services[sidecarOf(service)]?.image).to.equal(`daprio/daprd:${versions.dapr}`)
    }
    const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')
    expect(dockerfile).to.contain(`FROM node:${versions.node}-bookworm-slim AS`)
    expect(dockerfile).to.contain(`FROM daprio/daprd:${versions.dapr} AS`)
  })

  it('publishes ports only on loopback', () => {
    const published = Object.values(services).flatMap(({ ports = [] }) => ports)
    expect(published).to.have.length(5 + 2 * registered.length)
    for (const port of published) expect(port).to.match(/^127\.0\.0\.1:\$\{\w+_PORT:-\d+\}:\d+$/)
  })

  it('contains default values for ports, but not for secrets', () => {
    const withDefault = [...text.matchAll(/\$\{(\w+):-/g)].map(([, name]) => name ?? '')
    expect(withDefault.filter((name) => !/_PORT$|_PROTOCOL$|^(Auth|Web)__/.test(name))).to.deep.equal([])
    expect(withDefault).not.to.include('Auth__ApiKeys')
  })

  it('runs our own containers without privileges and with read-only images', () => {
    for (const name of ours) {
      expect(services[name], name).to.deep.include({ user: '10001:10001', read_only: true, cap_drop: ['ALL'] })
      expect(services[name]?.security_opt, name).to.deep.equal(['no-new-privileges:true'])
    }
  })

  it('lets services write temporary files, which a rebuild of a large store needs', () => {
    for (const { name } of registered) expect(services[name]?.tmpfs, name).to.deep.equal(['/tmp'])
  })

  it('gives Kafka’s settings to services, and the store’s settings only to sidecars of services with a store', () => {
    for (const registeredService of registered) {
      const { name } = registeredService
      const [service, sidecar] = [services[name], services[sidecarOf(registeredService)]]
      expect(service?.environment?.Stream__Brokers, name).to.equal('kafka:19092')
      expect(service?.environment, name).not.to.include.keys('State__ConnectionString')
      const settings = Object.entries(sidecar?.environment ?? {}).filter(([key]) => key.startsWith('Stream__'))
      expect(service?.environment, name).to.include(Object.fromEntries(settings))
      expect('State__ConnectionString' in (sidecar?.environment ?? {}), name).to.equal(registeredService.hasStore)
      const folders = (sidecar?.command ?? []).filter((flag) => flag.startsWith('--resources-path='))
      expect(folders, name).to.have.length(registeredService.hasStore ? 2 : 1)
    }
  })

  it('gives each sidecar its own user of the store, and the user with all rights only to setup', () => {
    const uris = storedServices.map((service) => services[sidecarOf(service)]?.environment?.State__ConnectionString)
    const wanted = storedServices.map((service) => {
      const password = `\${${variableOf(service, 'STORE_PASSWORD')}:?is not set; see .env.example}`
      return `mongodb://${service.name}:${password}@mongo:27017/?authSource=admin&replicaSet=rs0`
    })
    expect(uris).to.deep.equal(wanted)
    const withAllRights = Object.entries(services).filter(([, { environment }]) =>
      /MONGO_PASSWORD/.test(JSON.stringify(environment ?? {})),
    )
    expect(withAllRights.map(([name]) => name)).to.have.members(['mongo', 'setup'])
  })

  it('lets sidecars collect garbage rarely, but more often above a size', () => {
    for (const service of registered) expect(services[sidecarOf(service)]?.environment).to.include(sidecarMemory)
  })

  it('starts observers only if their profiles are selected', () => {
    const profiles = Object.entries(services).flatMap(([name, { profiles: own }]) => (own ? [[name, own]] : []))
    expect(Object.fromEntries(profiles)).to.deep.equal({
      jaeger: ['observe'],
      exporter: ['observe'],
      prometheus: ['observe'],
      grafana: ['grafana'],
    })
    for (const name of ['jaeger', 'prometheus', 'grafana']) {
      expect(services[name], name).to.deep.include({ read_only: true, cap_drop: ['ALL'] })
    }
  })

  it('reads the settings for a reverse proxy from .env', () => {
    for (const { name } of registered) {
      const { Web__Proxies, Web__Hosts, Telemetry__MonitorPage } = services[name]?.environment ?? {}
      expect(Web__Proxies).to.equal(`\${Web__Proxies:-0}`)
      expect(Web__Hosts).to.match(/,\$\{Web__Hosts-\}$/)
      expect(Telemetry__MonitorPage).to.match(/^\$\{Telemetry__MonitorPage-http:\/\/localhost:/)
    }
  })

  it('sends traces under the name of each service and sidecar, but only if .env names a destination', () => {
    const settings = Object.keys(jaegerVariables('jaeger', defaultPorts)).filter((name) => name.startsWith('OTEL_'))
    for (const service of registered) {
      const [own, sidecar] = [services[service.name]?.environment, services[sidecarOf(service)]?.environment]
      for (const environment of [own, sidecar]) {
        expect(environment).to.include({ OTEL_EXPORTER_OTLP_ENDPOINT: `\${OTEL_EXPORTER_OTLP_ENDPOINT-}` })
        expect(environment).to.include.keys(settings)
      }
      expect(own).to.include({ Telemetry__TracePage: `\${Telemetry__TracePage-}` })
      expect(sidecar).to.include({ OTEL_SERVICE_NAME: sidecarOf(service) })
    }
  })

  it('excludes loopback and other containers from the proxies that Docker’s client gives to containers', () => {
    const peers = [
      'localhost',
      '127.0.0.1',
      '::1',
      'jaeger',
      'prometheus',
      ...registered.map(({ role }) => `${role}-pods`),
    ]
    for (const name of ['grafana', ...registered.flatMap((service) => [service.name, sidecarOf(service)])]) {
      for (const variable of ['no_proxy', 'NO_PROXY']) {
        expect(String(services[name]?.environment?.[variable]).split(','), name).to.include.members(peers)
      }
    }
  })

  it('gives the exporter its own Kafka user, but no keys or settings of the store', () => {
    const { environment = {}, entrypoint = [] } = services.exporter ?? {}
    expect(environment).to.include({ Stream__SaslUsername: 'exporter', Stream__DisableTls: 'false' })
    expect(environment.Stream__SaslPassword).to.match(/^\$\{KAFKA_EXPORTER_PASSWORD:/)
    for (const name of Object.keys(environment)) expect(name).to.match(/^Stream__/)
    expect(existsSync((entrypoint[1] ?? '').replace('/app', repository))).to.equal(true)
  })

  it('lets Prometheus reach the unpublished metrics of services and sidecars, under one name for all replicas of a service', () => {
    for (const service of registered) {
      const [pod] = podOf(service)
      expect(services[pod]?.networks, pod).to.deep.equal({ default: { aliases: [`${service.role}-pods`] } })
      expect(services[service.name]?.environment).to.include({ Metrics__Host: '0.0.0.0' })
      expect(services[sidecarOf(service)]?.command).to.include('--metrics-listen-address=0.0.0.0')
      const { metrics, daprMetrics } = entryOf(defaultPorts.services, service.name)
      for (const port of services[pod]?.ports ?? [])
        expect(port).not.to.match(new RegExp(`:(${metrics}|${daprMetrics})$`))
    }
  })

  it('puts the secrets of .env only into variables whose names mark them as secret', () => {
    const secrets = /\$\{\w*(PASSWORD|TOKEN|SIGNING_KEYS|HEADERS)\b/
    const withSecret = ours.flatMap((name) =>
      Object.entries(services[name]?.environment ?? {}).filter(([, value]) => secrets.test(String(value))),
    )
    const names = [...new Set(withSecret.map(([name]) => name))]
    expect(names).to.include.members(['Stream__SaslPassword', 'Monitor__DryRuns', 'Trust__SigningKeys'])
    expect(names.filter((name) => !isSecretName(name))).to.deep.equal([])
  })

  it('lets only the monitor request dry runs, on the metrics ports of consumers and with a different token for each consumer', () => {
    const watchers = registered.filter(({ watches }) => watches).map(({ name }) => name)
    for (const [name, { environment = {} }] of Object.entries(services)) {
      const own = registered.find((service) => service.name === name)
      const token = own?.hasStore ? [variableOf(own, 'DRY_RUN_TOKEN')] : []
      const known = JSON.stringify(environment).match(/\w+_DRY_RUN_TOKEN/g) ?? []
      const tokens = storedServices.map((service) => variableOf(service, 'DRY_RUN_TOKEN'))
      expect(known, name).to.have.members(watchers.includes(name) ? tokens : token)
    }
    const asked = String(services[watchers[0] ?? '']?.environment?.Monitor__DryRuns).split(',')
    const wanted = storedServices.map((service) => {
      const { metrics } = entryOf(defaultPorts.services, service.name)
      const token = `\${${variableOf(service, 'DRY_RUN_TOKEN')}:?is not set; see .env.example}`
      return `${service.name}=http://${service.role}-pods:${metrics} ${token}`
    })
    expect(asked).to.deep.equal(wanted)
    for (const { name, folder } of storedServices) {
      const own = JSON.parse(readFileSync(join(repository, folder, 'appsettings.json'), 'utf8'))
      expect(own.Metrics.Port, name).to.equal(entryOf(defaultPorts.services, name).metrics)
    }
  })

  it('gives this checkout’s keys and list of trusted publishers only to services that sign or verify events', () => {
    for (const { name } of registered) {
      expect(services[name]?.volumes, name).to.include('./components/trust:/app/components/trust:ro')
    }
    const told = Object.entries(services).filter(([, { environment }]) => environment?.Trust__SigningKeys)
    for (const [, { environment }] of told) expect(environment?.Trust__SigningKeys).to.match(/^\$\{SIGNING_KEYS:\?/)
    const signers = registered.filter(
      ({ hasStore, watches, publishes }) => hasStore || watches || Object.values(publishes).flat().length > 0,
    )
    expect(told.map(([name]) => name)).to.have.members(signers.map(({ name }) => name))
  })

  it('lets each service and its sidecar log in to Kafka over TLS, with the name and password of the service’s Kafka user', () => {
    for (const service of registered) {
      const password = variableOf(service, 'KAFKA_PASSWORD')
      for (const name of [service.name, sidecarOf(service)]) {
        const { environment = {} } = services[name] ?? {}
        expect(environment, name).to.include({ Stream__SaslUsername: service.name, Stream__DisableTls: 'false' })
        expect(environment.Stream__SaslPassword, name).to.match(new RegExp(`^\\$\\{${password}:`))
        expect(environment.Stream__CaCert, name).to.match(/^-----BEGIN CERTIFICATE-----\n\$\{KAFKA_CERTIFICATE:/)
        const foreign = Object.keys(environment).filter((key) => key.startsWith('KAFKA_'))
        expect(foreign, name).to.deep.equal([])
      }
      expect(services.setup?.environment, service.name).to.include.keys(password)
    }
  })

  it('lets Kafka authenticate all clients in the network, and listen without TLS only on its own loopback', () => {
    const { environment: kafka = {}, ports = [] } = services.kafka ?? {}
    const protocols = new Map(
      String(kafka.KAFKA_LISTENER_SECURITY_PROTOCOL_MAP)
        .split(',')
        .map((pair) => pair.split(':') as [string, string]),
    )
    const listeners = String(kafka.KAFKA_LISTENERS)
      .split(',')
      .map((text) => text.split('://') as [string, string])
    expect(listeners.map(([name]) => name)).to.have.members([...protocols.keys()])
    for (const [name, address] of listeners) {
      const asks =
        protocols.get(name) === 'SASL_SSL' &&
        kafka[`KAFKA_LISTENER_NAME_${name}_SASL_ENABLED_MECHANISMS`] === 'SCRAM-SHA-512'
      expect(asks || address.startsWith('localhost:'), name).to.equal(true)
      expect(protocols.get(name), name).to.match(/^SASL_/)
    }
    expect(ports.map((port) => port.split(':').at(-1))).to.deep.equal(['9092'])
    expect(kafka.KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND).to.equal('false')
    expect(kafka.KAFKA_SUPER_USERS).to.not.contain('ANONYMOUS')
  })

  it('never pulls an image that is built here, because the owner of that name in a registry would receive the secrets', () => {
    const made = Object.entries(services).filter(([, { image }]) => image.includes('orderflow'))
    expect(made.map(([name]) => name).sort()).to.deep.equal(ours.filter((name) => !name.endsWith('-sidecar')).sort())
    for (const [name, { image, pull_policy }] of made) {
      // Docker treats localhost before the slash as a registry, and this machine has no registry.
      expect(image, name).to.match(/^localhost\/orderflow-[a-z-]+$/)
      expect(pull_policy, name).to.equal('never')
    }
  })

  it('uses the same names as ./orderflow for images that are built here', () => {
    for (const { name } of registered) expect(services[name]?.image).to.equal(serviceImage(name))
    expect(services.setup?.image).to.equal(serviceImage('setup'))
  })
})
