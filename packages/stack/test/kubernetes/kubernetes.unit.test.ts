import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { applicationName } from '../../src/application/paths.ts'
import { services, storedServices } from '../../src/application/services.ts'
import { CliError } from '../../src/base/error.ts'
import { connectionStrings } from '../../src/containers/project.ts'
import { type Cluster, kubectl, readContext } from '../../src/kubernetes/cluster.ts'
import { provideImages } from '../../src/kubernetes/images.ts'
import { reachFromInside, runInPod } from '../../src/kubernetes/inside.ts'
import {
  isLocal,
  requireConsent,
  requireInjector,
  requireKafka,
  requireNamedSettings,
  requireProducts,
} from '../../src/kubernetes/needs.ts'
import { ensureSecrets } from '../../src/kubernetes/secrets.ts'
import { readValues, type Values } from '../../src/kubernetes/values.ts'
import { removeFolders, temporaryFolder } from '../support.ts'
import { fakeCluster } from './fake-cluster.ts'

const cluster: Cluster = { context: 'shop', server: 'https://203.0.113.1:6443', namespace: 'orders' }

function valuesWith(text: string): Values {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'kubernetes.yaml'), text)
  return readValues(folder)
}

async function failureOf(work: () => unknown): Promise<CliError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CliError) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('the runner of Kubernetes', () => {
  const { PATH } = process.env
  afterEach(() => {
    process.env.PATH = PATH
    removeFolders()
  })

  describe('consent', () => {
    it('treats clusters of developers’ tools and on loopback as local', () => {
      const local = [
        ['kind-shop', 'https://127.0.0.1:45123'],
        ['minikube', 'https://192.168.49.2:8443'],
        ['docker-desktop', 'https://kubernetes.docker.internal:6443'],
        ['k3d-shop', 'https://0.0.0.0:6550'],
        ['any', 'https://[::1]:6443'],
      ] as const
      expect(local.filter(([context, server]) => !isLocal(context, server))).to.deep.equal([])
      const foreign = [
        ['shop', 'https://10.0.0.1:6443'],
        ['kind-shop', 'https://203.0.113.1:6443'],
        ['minikube', 'https://shop.example:6443'],
        ['localhost', 'https://127.0.0.1.example:6443'],
      ] as const
      expect(foreign.filter(([context, server]) => isLocal(context, server))).to.deep.equal([])
    })

    it('refuses a foreign cluster without a terminal, and names the variable that confirms it', async () => {
      const error = await failureOf(() => requireConsent(cluster, {}, undefined))
      expect(error.message).to.contain('shop (https://203.0.113.1:6443) is not a cluster of this machine')
      expect(error.nextStep).to.contain('make up STACK=kubernetes CONFIRM=shop')
      await failureOf(() => requireConsent(cluster, { CONFIRM: 'other' }, undefined))
    })

    it('accepts a foreign cluster that is confirmed or recorded, but not a recorded context that moved', async () => {
      await requireConsent(cluster, { CONFIRM: 'shop' }, undefined)
      await requireConsent(cluster, {}, { ...cluster, store: 'mongodb' })
      await failureOf(() =>
        requireConsent(cluster, {}, { ...cluster, server: 'https://203.0.113.2', store: 'mongodb' }),
      )
    })
  })

  describe('kubectl', () => {
    it('names the context, its server and the namespace, and sets a limit of time', async () => {
      const fake = fakeCluster(temporaryFolder())
      await kubectl(cluster, ['get', 'pods'])
      expect(fake.calls()[0]?.args).to.deep.equal([
        '--context',
        'shop',
        '--server',
        cluster.server,
        '--namespace',
        'orders',
        '--request-timeout=10s',
        'get',
        'pods',
      ])
    })

    it('throws an error with the way to install a missing kubectl', async () => {
      process.env.PATH = temporaryFolder()
      const error = await failureOf(() => kubectl(cluster, ['get', 'pods']))
      expect([error.code, error.message]).to.deep.equal(['tools-missing', 'kubectl is not installed'])
      expect(error.nextStep).to.contain('install kubectl')
    })

    it('reports a cluster that is away, and the way to give it up', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.fail('pods', 'E1127 memcache.go:265\nUnable to connect to the server: dial tcp: i/o timeout')
      const error = await failureOf(() => kubectl(cluster, ['get', 'pods']))
      expect([error.code, error.message]).to.deep.equal([
        'unreachable',
        'the cluster of context shop does not answer: Unable to connect to the server: dial tcp: i/o timeout',
      ])
      expect(error.nextStep).to.contain('remove .stack/kubernetes.json')
    })

    it('ends after the limit of time, even if the program hangs', async () => {
      const folder = temporaryFolder()
      fakeCluster(folder)
      writeFileSync(join(folder, 'bin/kubectl'), '#!/bin/sh\nexec sleep 30\n')
      const error = await failureOf(() => kubectl(cluster, ['get', 'pods'], { timeoutMs: 200 }))
      expect(error.message).to.equal('the cluster of context shop does not answer: no answer in time')
    })

    it('refuses a kubeconfig without a current context', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('config', { contexts: null, clusters: null })
      const error = await failureOf(() => readContext(undefined))
      expect(error.message).to.equal('the kubeconfig has no current context')
    })
  })

  describe('make up', () => {
    it('refuses settings of the shell that the values do not contain', () => {
      const settings = { Auth__Mode: 'closed', Limits__AddressPerMinute: '0' }
      const env = { ...settings, Stream__SaslPassword: 'p', State__ConnectionString: 'uri', OTEL_SDK_DISABLED: 'true' }
      requireNamedSettings({ settings }, env)
      expect(() => requireNamedSettings({ settings: {} }, { Auth__Mode: 'closed' }))
        .to.throw('the shell sets Auth__Mode, which STACK=kubernetes does not read')
        .with.property('nextStep')
        .that.contains('kubernetes.yaml')
      expect(() => requireNamedSettings({ settings }, { Auth__Mode: 'open' })).to.throw('Auth__Mode')
    })

    it('refuses values that name no Kafka', async () => {
      const error = await failureOf(() => requireKafka(valuesWith('sidecar: native')))
      expect(error.message).to.contain('kubernetes.yaml must name your Kafka (kafka.brokers)')
      requireKafka(valuesWith('kafka: { brokers: "kafka:9092" }'))
    })

    it('refuses injected sidecars in a cluster without Dapr', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('/apis', { groups: [{ name: 'apps' }] })
      const values = valuesWith('sidecar: injected')
      const absent = await failureOf(() => requireProducts(cluster, values))
      expect(absent.message).to.equal('the cluster lacks Dapr')
      expect(absent.nextStep).to.contain('dapr init --kubernetes')
      await requireProducts(cluster, valuesWith('sidecar: native'))
    })

    it('refuses injected sidecars if the injector adds no sidecar', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('create', { spec: { containers: [{ name: 'service' }] } })
      const error = await failureOf(() => requireInjector(cluster))
      expect(error.message).to.equal('the injector of Dapr adds no sidecar')
      expect(fake.calls()[0]?.args).to.include('--dry-run=server')
    })

    it('accepts injected sidecars of both kinds', async () => {
      const [service, daprd] = [{ name: 'service' }, { name: 'daprd' }]
      for (const spec of [{ containers: [service, daprd] }, { containers: [service], initContainers: [daprd] }]) {
        const fake = fakeCluster(temporaryFolder())
        fake.answer('create', { spec })
        await requireInjector(cluster)
      }
    })

    it('explains why a namespace refuses injected sidecars', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.fail(
        'create',
        'Error from server (Forbidden): pods "x" is forbidden: violates PodSecurity "restricted:latest"',
      )
      const error = await failureOf(() => requireInjector(cluster))
      expect(error.message).to.contain('namespace orders refuses the sidecars')
      expect(error.nextStep).to.contain('sidecarDropALLCapabilities=true')
    })
  })

  describe('ensureSecrets', () => {
    const given = {
      Stream__SaslUsername: 'admin',
      Stream__SaslPassword: 'given-password',
      State__ConnectionString: 'mongodb://given-uri/',
    }
    const values = () => valuesWith('kafka: { brokers: "kafka:9092" }')
    const encoded = (text: string) => Buffer.from(text).toString('base64')
    type Sent = { items: { metadata: { name: string; resourceVersion?: string }; data: Record<string, string> }[] }
    const sentBy = (fake: ReturnType<typeof fakeCluster>, verb: string) =>
      fake.calls().flatMap(({ args, input }) => (args.includes(verb) ? (JSON.parse(input) as Sent).items : []))

    it('creates the keys that the chart reads, and sends them through the standard input', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      await ensureSecrets(cluster, values(), given)
      const created = new Map(sentBy(fake, 'create').map(({ metadata, data }) => [metadata.name, data]))
      expect([...created.keys()]).to.have.members([
        ...services.map(({ name }) => `${name}-secrets`),
        'operator-secrets',
      ])
      const own = created.get(`${storedServices[0]?.name}-secrets`) ?? {}
      expect(Object.keys(own)).to.have.members([
        'APP_API_TOKEN',
        'DAPR_API_TOKEN',
        'Stream__SaslPassword',
        'DryRun__Token',
        'State__ConnectionString',
        'Trust__SigningKeys',
      ])
      const keys = new Set([...created.values()].flatMap(({ Trust__SigningKeys: key }) => (key ? [key] : [])))
      expect(keys.size).to.equal(1)
      const secrets = [...created.values()].flatMap((data) => Object.values(data))
      const decoded = secrets.map((value) => Buffer.from(value, 'base64').toString())
      const shown = fake.argumentsOfAll()
      expect([...secrets, ...decoded].filter((secret) => shown.includes(secret) && secret !== 'admin')).to.deep.equal(
        [],
      )
    })

    it('gives each sidecar its own user of the store, whom the setup job creates', async () => {
      for (const [store, suffix] of [
        ['mongodb', ''],
        ['postgresql', '.store'],
      ] as const) {
        const fake = fakeCluster(temporaryFolder())
        fake.answer('secrets', { items: [] })
        const uri = `${store}://admin:of-all@one:1,two:2/?tls=true`
        await ensureSecrets(cluster, { ...values(), store }, { ...given, State__ConnectionString: uri })
        const created = new Map(sentBy(fake, 'create').map(({ metadata, data }) => [metadata.name, data]))
        const uriOf = (name: string) =>
          Buffer.from(created.get(name)?.State__ConnectionString ?? '', 'base64').toString()
        expect(uriOf('operator-secrets')).to.equal(uri)
        const uris = storedServices.map(({ name }) => uriOf(`${name}-secrets`))
        for (const [index, { name }] of storedServices.entries())
          expect(uris[index]).to.match(new RegExp(`^${store}://${name}${suffix}:[\\w-]{32}@one:1,two:2/\\?tls=true$`))
        expect(new Set(uris.map((own) => own.split(/[:@]/)[2])).size).to.equal(storedServices.length)
      }
    })

    it('accepts a URI for each service instead', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      const { State__ConnectionString: _, ...others } = given
      const own = Object.fromEntries(
        Object.values(connectionStrings).map((variable) => [variable, `uri of ${variable}`]),
      )
      await ensureSecrets(cluster, values(), { ...others, ...own })
      const uris = sentBy(fake, 'create').flatMap(({ data }) => data.State__ConnectionString ?? [])
      expect(uris).to.have.members(Object.values(own).map(encoded))
    })

    it('keeps existing values, and adds only missing keys', async () => {
      const fake = fakeCluster(temporaryFolder())
      const [stored] = storedServices
      const name = `${stored?.name}-secrets`
      const data = { Trust__SigningKeys: encoded('kept-key'), APP_API_TOKEN: encoded('kept-token') }
      fake.answer('secrets', { items: [{ metadata: { name, resourceVersion: '7' }, data }] })
      await ensureSecrets(cluster, values(), given)
      const [replaced] = sentBy(fake, 'replace')
      expect(replaced?.metadata.resourceVersion).to.equal('7')
      expect(replaced?.data).to.include(data)
      const signing = sentBy(fake, 'create').flatMap((secret) => secret.data.Trust__SigningKeys ?? [])
      expect(new Set(signing)).to.deep.equal(new Set([encoded('kept-key')]))
    })

    it('changes nothing at a second start', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      await ensureSecrets(cluster, values(), given)
      const items = sentBy(fake, 'create')
      const second = fakeCluster(temporaryFolder())
      second.answer('secrets', { items })
      expect(await ensureSecrets(cluster, values(), {})).to.deep.equal([])
      expect(second.calls().map(({ args }) => args.at(7))).to.deep.equal(['get'])
    })

    it('names the variables that must be given once', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      const error = await failureOf(() => ensureSecrets(cluster, values(), {}))
      expect(error.message.split('\n').map((line) => line.trim().split(':')[0])).to.deep.equal([
        'these secrets are missing',
        'State__ConnectionString',
        'Stream__SaslUsername',
        'Stream__SaslPassword',
      ])
      expect(fake.calls().length).to.equal(1)
    })

    it('gives the operator the password of the user that creates it', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('secrets', { items: [] })
      await ensureSecrets(cluster, values(), { ...given, Stream__SaslUsername: 'operator' })
      const operator = sentBy(fake, 'create').find(({ metadata }) => metadata.name === 'operator-secrets')
      expect(operator?.data.KAFKA_OPERATOR_PASSWORD).to.equal(encoded('given-password'))
    })
  })

  describe('provideImages', () => {
    const images = [...services.map(({ name }) => name), 'setup']
    const nameOf = (image: string) => `${applicationName}-${image}`
    const digest = `sha256:${'0'.repeat(64)}`
    const options = { onProgress: () => {}, signal: new AbortController().signal }
    const callsOf = (fake: ReturnType<typeof fakeCluster>, program: string) =>
      fake.calls().flatMap((call) => (call.program === program ? [call.args.join(' ')] : []))

    it('pushes images to the registry, and pins the digests that the registry returns', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer(
        'inspect',
        images.map((image) => `registry.example:5000/shop/${nameOf(image)}@${digest}`),
      )
      const values = valuesWith('images: { registry: "registry.example:5000/shop", tag: "7" }')
      const provided = await provideImages(cluster, values, options)
      expect(provided).to.deep.equal({ digests: Object.fromEntries(images.map((image) => [image, digest])) })
      const pushed = images.map((image) => `push --quiet registry.example:5000/shop/${nameOf(image)}:7`)
      expect(callsOf(fake, 'docker')).to.include.members(pushed)
    })

    it('builds no images if the values have all digests', async () => {
      const fake = fakeCluster(temporaryFolder())
      const digests = images.map((image) => `${image}: "${digest}"`).join(', ')
      const values = valuesWith(`images: { registry: registry.example, digests: { ${digests} } }`)
      expect(await provideImages(cluster, values, options)).to.deep.equal({})
      expect(fake.calls()).to.deep.equal([])
    })

    it('loads images into a cluster of kind, with a tag of their content', async () => {
      const fake = fakeCluster(temporaryFolder())
      fake.answer('inspect', 'sha256:1')
      const { tag } = await provideImages({ ...cluster, context: 'kind-shop' }, valuesWith(''), options)
      expect(tag).to.match(/^[0-9a-f]{12}$/)
      const names = images.map((image) => `localhost/${nameOf(image)}:${tag}`)
      expect(callsOf(fake, 'kind')).to.deep.equal([`load docker-image --name shop ${names.join(' ')}`])
    })

    it('expects images on the nodes of another cluster if the values name no registry', async () => {
      const fake = fakeCluster(temporaryFolder())
      expect(await provideImages(cluster, valuesWith(''), options)).to.deep.equal({})
      expect(fake.calls()).to.deep.equal([])
    })
  })

  describe('a command inside the cluster', () => {
    const pod = {
      metadata: { name: 'pod-1', labels: {} },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    }
    function commandCluster() {
      const fake = fakeCluster(temporaryFolder())
      const containers = [{ name: 'setup', env: [{ name: 'KEPT', value: '1' }] }, { name: 'other' }]
      fake.answer('cronjob', { spec: { jobTemplate: { spec: { template: { spec: { containers } } } } } })
      fake.answer('pods', { items: [pod] })
      return fake
    }
    const addresses = { shop: 'http://localhost:1' }
    const { signal } = new AbortController()

    it('runs in a pod of its own, which is removed afterwards', async () => {
      const fake = commandCluster()
      // Without an input, the command would read the standard input of this test, which may stay open.
      const options = { input: Buffer.alloc(0), secrets: {}, addresses, signal }
      expect(await runInPod(cluster, 'setup', ['node', '/app/cli.ts', 'partitions'], options)).to.equal(0)
      const [created] = fake.calls().filter(({ args }) => args.includes('create'))
      const [job] = JSON.parse(created?.input ?? '').items
      const { containers } = job.spec.template.spec
      expect(containers).to.have.length(1)
      expect(containers[0].env).to.deep.include({ name: 'KEPT', value: '1' })
      expect(containers[0].env).to.deep.include({ name: 'ORDERFLOW_ADDRESSES', value: JSON.stringify(addresses) })
      const executed = fake.calls().find(({ args }) => args.includes('exec'))?.args ?? []
      expect(executed.slice(executed.indexOf('--') + 1)).to.deep.equal(['node', '/app/cli.ts', 'partitions'])
      expect(fake.calls().at(-1)?.args).to.include.members(['delete', 'job', job.metadata.name])
    })

    it('gets secrets and files through its standard input', async () => {
      const fake = commandCluster()
      const options = { input: Buffer.from('{"file":1}'), secrets: { API_KEY: 'top-secret' }, addresses, signal }
      await runInPod(cluster, 'setup', ['node', '/app/cli.ts', 'publish', '-'], options)
      const executed = fake.calls().find(({ args }) => args.includes('exec'))
      expect(executed?.input).to.equal('API_KEY=top-secret\n\n{"file":1}')
      expect(JSON.stringify(fake.calls().filter(({ args }) => !args.includes('exec')))).not.to.contain('top-secret')
      expect(fake.argumentsOfAll()).not.to.contain('top-secret')
    })

    it('reaches services by their names, but shows the addresses of people', () => {
      const [service] = services
      const { name = '', http } = service ?? {}
      const reached = reachFromInside({
        ORDERFLOW_ADDRESSES: JSON.stringify({ [name]: 'https://shop.example' }),
        Stream__Brokers: 'kafka:9092',
        Stream__AuthType: 'password',
        Stream__SaslMechanism: 'SHA-512',
        Stream__SaslUsername: 'admin',
        Stream__SaslPassword: 'one',
        KAFKA_PUBLISHER_PASSWORD: 'two',
      })
      expect(reached.services[name]).to.deep.include({ url: `http://${name}:${http}`, shown: 'https://shop.example' })
      expect(reached.kafka.sasl).to.include({ username: 'admin', password: 'one' })
      expect(reached.publisher.sasl).to.include({ username: 'publisher', password: 'two' })
    })
  })
})
