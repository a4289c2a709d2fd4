import { expect } from 'chai'
import { applicationName } from '../../src/application/paths.ts'
import { services } from '../../src/application/services.ts'
import { provideImages } from '../../src/kubernetes/images.ts'
import { reachFromInside, runInPod } from '../../src/kubernetes/inside.ts'
import { temporaryFolder } from '../support.ts'
import { fakeCluster } from './fake-cluster.ts'
import { cleanUp, cluster, valuesWith } from './runner-tests.ts'

describe('the runner of Kubernetes', () => {
  cleanUp()

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
