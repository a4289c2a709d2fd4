import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { anOrder, orderWith, post, send } from '@orderflow/chaos/clients/api'
import { type Cluster, clusterMissing, startCluster } from '@orderflow/cluster'
import { buildTimeoutMs, testValues } from '@orderflow/cluster/installation'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import type { Order } from '@orderflow/order-service/order'
import { eventually, timed } from '@orderflow/stack/base'
import { composeMissing, engineMissing } from '@orderflow/stack/internals'
import { ensureImages, images } from '@orderflow/stack/machine'
import { operatorUser } from '@orderflow/stack/operate'
import { openLog } from '@orderflow/test-kit'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import { type NewApplication, newApplication } from '../support/checkouts/new-application.ts'
import { succeeded } from '../support/documents/follow-document.ts'
import { environmentOf } from './environment.ts'
import { type ClusterRegistry, openRegistry } from './registry.ts'

const title = 'an application of make new-app on a cluster'
const namespace = 'shop'
const missing = (await clusterMissing()) ?? (await engineMissing()) ?? (await composeMissing())
const onProgress = timed()
const ordersPerSecond = 5

if (missing) leaveOut(title, missing)
else describe(title, tests)

function tests(this: Mocha.Suite): void {
  this.timeout(buildTimeoutMs)
  this.bail(true)
  let cluster: Cluster
  let servers: Servers
  let registry: ClusterRegistry
  let app: NewApplication
  let env: Record<string, string>

  before(async () => {
    cluster = await startCluster({ networkPolicies: true, onProgress, waitMs: buildTimeoutMs })
    servers = await startServers(cluster, 'postgresql')
    await cluster.loadImages([images.daprd])
    await ensureImages({ onProgress }, [images.base, images.node])
    registry = await openRegistry(cluster, onProgress)
    app = await newApplication(namespace, (folder) => `make --silent new-app DIR='${folder}'`)
    await createNamespace()
    const values = {
      store: 'postgresql',
      kafka: { brokers: servers.brokers, ca: { name: 'kafka-ca' } },
      images: { registry: `${registry.name}/${namespace}`, pullSecrets: [{ name: 'registry' }] },
      ...testValues,
    }
    // JSON is valid YAML.
    app.write('kubernetes.yaml', JSON.stringify(values))
    env = {
      ...(await environmentOf(cluster)),
      DOCKER_CONFIG: registry.loginFolder,
      STACK: 'kubernetes',
      Stream__SaslUsername: operatorUser,
      Stream__SaslPassword: servers.passwords[operatorUser] ?? '',
      Stream__CaCert: servers.certificate,
      State__ConnectionString: servers.storeUri,
    }
  })
  after(async () => {
    await app?.remove()
    await cluster?.stop()
    await registry?.stop()
  })

  /** Creates the namespace with the Secret for pulls, as an administrator would. */
  const createNamespace = () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    return cluster.applyManifest([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'registry', namespace },
        type: 'kubernetes.io/dockerconfigjson',
        stringData: { '.dockerconfigjson': registry.login },
      },
    ])
  }
  const make = async (...args: string[]) => succeeded(await app.run('make', args, env))
  const urlOf = async (service: string) => {
    const { spec } = await cluster.get<Service>('service', service, `--namespace=${namespace}`)
    return `http://${spec.clusterIP}:${spec.ports[0]?.port}`
  }
  const place = async (more: object = {}) => {
    const { status, body } = await post<Order>(`${await urlOf('order-service')}/v1/orders`, { ...anOrder, ...more })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.id
  }
  const isPaid = async (id: string) => orderWith(await urlOf('order-service'), id, 'Paid')

  /** Places orders while `work` runs. All must be accepted, and then paid. */
  const underLoad = async (work: () => Promise<void>) => {
    const url = `${await urlOf('order-service')}/v1/orders`
    const placed: Promise<Awaited<ReturnType<typeof post<Order>>>>[] = []
    const load = setInterval(() => {
      const answer = post<Order>(url, anOrder)
      answer.catch(() => {})
      placed.push(answer)
    }, 1_000 / ordersPerSecond)
    await work().finally(() => clearInterval(load))
    const answers = await Promise.all(placed)
    expect(answers.filter(({ status }) => status !== 201).map(({ body }) => body)).to.deep.equal([])
    for (const { body } of answers) await isPaid(body.id)
    return answers.length
  }

  it('runs the images of a registry by their digests', async () => {
    await make('up')
    await isPaid(await place())
    const { items } = await cluster.get<Pods>('pods', `--namespace=${namespace}`)
    const images = items.flatMap(({ spec }) => spec.containers.map(({ image }) => image))
    expect(images).to.have.length.above(3)
    for (const image of images) expect(image).to.match(new RegExp(`^${registry.name}/shop/shop-\\S+@sha256:`))
  })

  it('runs a service of make new-service, which handles events', async () => {
    await make('new-service', 'NAME=shipping-service')
    await make('up')
    const id = await place()
    const shippings = async () => {
      const { body } = await send<{ items: unknown[] }>(`${await urlOf('shipping-service')}/v1/shippings?orderId=${id}`)
      return body.items.length || undefined
    }
    expect(await eventually(shippings, 'a document of shipping-service')).to.equal(1)
  })

  it('gets a new version of an event in two rolling updates, without a dead letter', async () => {
    const log = await openLog(servers.kafkaOf(operatorUser), ['orderevents', 'orderevents.dead'])
    try {
      const schema = 'envelope-schema/schemas/events/OrderCreated.2.json'
      app.write(schema, readFileSync(join(import.meta.dirname, '../growth/versions/OrderCreated.2.json'), 'utf8'))
      await make('generate')
      // At first all services know the new version, but none publishes it.
      const before = await underLoad(() => make('up'))
      app.replace('order-service/src/order.ts', "placedType = 'OrderCreated@1'", "placedType = 'OrderCreated@2'")
      const during = await underLoad(() => make('up'))
      await isPaid(await place({ note: 'Ring twice.' }))
      await log.caughtUp()
      const records = log.records.map(({ topic, value }) => ({ topic, ...JSON.parse(value.toString()) }))
      expect(records.filter(({ topic }) => topic === 'orderevents.dead')).to.deep.equal([])
      const created = records.filter(({ Name }) => Name === 'OrderCreated')
      expect(new Set(created.map(({ Version }) => Version))).to.deep.equal(new Set([1, 2]))
      console.log(`      ${before + during} orders were accepted and paid during the updates`)
    } finally {
      await log.close()
    }
  })
}

interface Service {
  spec: { clusterIP: string; ports: { port: number }[] }
}

interface Pods {
  items: { spec: { containers: { image: string }[] } }[]
}
