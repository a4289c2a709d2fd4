import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSecretName } from '@orderflow/service-kit/setup'
import { expect } from 'chai'
import { parse } from 'yaml'
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
import { postgresqlFile, variableOf } from '../../src/containers/project.ts'
import { ipv6Ports, podOf, replicaServices } from '../../src/containers/replicas.ts'
import { brokerSettings } from '../../src/kafka/broker.ts'
import { daprdFlags, resourcesOf, sidecarMemory } from '../../src/processes/process/spec.ts'
import { postgresqlSettings } from '../../src/stores/databases.ts'

interface Service {
  image: string
  ports?: string[]
  command?: string[]
  environment?: Record<string, unknown>
  profiles?: string[]
  entrypoint?: string[]
  [key: string]: unknown
}

const text = readFileSync(join(repository, 'docker-compose.yml'), 'utf8')
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> }
const ofOthers = ['kafka', 'mongo', 'jaeger', 'prometheus', 'grafana']
const ours = Object.keys(services).filter((name) => !ofOthers.includes(name))

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

describe('docker-compose.postgresql.yml', () => {
  const besides = readFileSync(join(repository, postgresqlFile), 'utf8')
  const customTags = [{ tag: '!reset', resolve: () => null }]
  const added = (parse(besides, { merge: true, customTags }) as { services: Record<string, Service | null> }).services

  it('replaces MongoDB by PostgreSQL, and publishes PostgreSQL’s port only on loopback', () => {
    expect(Object.keys(services)).to.include('mongo')
    expect(added.mongo).to.equal(null)
    expect(added.postgresql?.ports).to.deep.equal([`127.0.0.1:\${POSTGRESQL_PORT:-${defaultPorts.postgresql}}:5432`])
  })

  it('gives PostgreSQL’s address only to setup and sidecars', () => {
    const told = Object.entries(added).filter(([, service]) => service?.environment?.State__ConnectionString)
    expect(told.map(([name]) => name)).to.have.members(['setup', ...storedServices.map(sidecarOf)])
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
    const withDefault = [...besides.matchAll(/\$\{(\w+):-/g)].map(([, name]) => name)
    expect(withDefault).to.deep.equal(['POSTGRESQL_PORT'])
    for (const [, rest] of besides.matchAll(/\$\{POSTGRESQL_PASSWORD(.)/g)) expect(rest).to.equal(':')
  })
})

describe('the connection pools of a sidecar', () => {
  it('leave enough connections of PostgreSQL for twenty sidecars and some operators', () => {
    const folder = join(repository, 'components/postgresql')
    const pools = readdirSync(folder).map((file) => {
      const { spec } = parse(readFileSync(join(folder, file), 'utf8'))
      return Number(spec.metadata.find(({ name }: { name: string }) => name === 'maxConns').value)
    })
    expect(pools).to.deep.equal([8, 8])
    expect(16 * 20).to.be.below(postgresqlSettings.max_connections)
  })
})

describe('the sidecar of a release', () => {
  it('starts with the same flags as the other sidecars, except those for ports and paths', () => {
    const start = readFileSync(join(repository, 'packages/stack/templates/release-image/start'), 'utf8')
    const [, lines = ''] = /^sidecar_flags=\(\n(.*?)^\)$/ms.exec(start) ?? []
    const found = [...lines.matchAll(/--([a-z-]+)[ =]("\$\(.*?\)"|"[^"]*"|\S+)/g)].map(([, flag = '', value = '']) => [
      flag,
      value,
    ])
    const [first] = registered
    const ports = entryOf(defaultPorts.services, first?.name ?? '')
    const wanted = daprdFlags(first?.name ?? '', ports, resourcesOf('/app/components', { hasStore: false }, 'mongodb'))
    const folder = resourcesOf('/app/components', { hasStore: true }, 'mongodb').folders[1]
    expect(start).to.contain(`[ -z "$State__Store" ] || sidecar_flags+=(--resources-path ${folder})`)
    const isOwn = ([flag = '']: (string | undefined)[]) => flag.endsWith('-port') || flag === 'app-id'
    expect(found.filter(isOwn).map(([flag]) => flag)).to.deep.equal(wanted.filter(isOwn).map(([flag]) => flag))
    const rest = found.filter((pair) => !isOwn(pair) && pair[0] !== 'dapr-graceful-shutdown-seconds')
    expect(rest).to.deep.equal(wanted.filter((pair) => !isOwn(pair)))
  })
})

describe('the settings of brokers', () => {
  const read = (path: string) => readFileSync(join(repository, path), 'utf8')
  const files = [
    'packages/stack/test/release/rehearsal/kafka.ts',
    'packages/stack/templates/images/kafka/docker/server.properties',
  ]
  /** The setting that may differ between brokers. Hosted brokers require at least 6 s. */
  const other = ['group.min.session.timeout.ms']

  for (const file of files) {
    it(`equal, in ${file}, those of brokers that run as processes`, () => {
      const settings = Object.entries(brokerSettings).filter(([name]) => !other.includes(name))
      for (const [name, value] of settings) {
        const [, found] =
          new RegExp(`^\\s*'?${name.replaceAll('.', '\\.')}'?\\s*[:=]\\s*'?([^',\\s]+)`, 'm').exec(read(file)) ?? []
        if (found !== undefined) expect(found, name).to.equal(String(value))
      }
    })
  }
})

describe('replicaServices', () => {
  const model = {
    services: {
      'payment-pod': { image: 'p', pull_policy: 'never', ports: ['1:1'] },
      'payment-sidecar': { network_mode: 'service:payment-pod', depends_on: { 'payment-pod': {}, setup: {} } },
      'payment-service': {
        build: {},
        network_mode: 'service:payment-pod',
        depends_on: { 'payment-pod': {}, 'payment-sidecar': {} },
      },
    },
  }

  it('adds a pod, a sidecar and a service for each replica, all without published ports', () => {
    expect(replicaServices(model, { 'payment-service': 2 }).services).to.deep.equal({
      'payment-pod-2': { image: 'p', pull_policy: 'never' },
      'payment-sidecar-2': { network_mode: 'service:payment-pod-2', depends_on: { 'payment-pod-2': {}, setup: {} } },
      'payment-service-2': {
        network_mode: 'service:payment-pod-2',
        depends_on: { 'payment-pod-2': {}, 'payment-sidecar-2': {} },
      },
    })
  })

  it('adds no replicas for a service that runs once', () => {
    expect(replicaServices(model, { 'payment-service': 1 }).services).to.deep.equal({})
  })
})

describe('ipv6Ports', () => {
  it('returns the ports that docker-compose.yml publishes on 127.0.0.1, with the same variables', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports)
    const added = ipv6Ports({ services }).services
    expect(Object.keys(added))
      .to.have.members(published.map(([name]) => name))
      .and.to.include('order-pod')
    expect(added['order-pod']?.ports).to.deep.equal([
      `[::1]:\${ORDER_HTTP_PORT:-5000}:5000`,
      `[::1]:\${ORDER_HTTPS_PORT:-5001}:5001`,
    ])
  })
})
