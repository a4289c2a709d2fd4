import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { kubectl, readContext } from '../../src/kubernetes/cluster.ts'
import {
  isLocal,
  requireConsent,
  requireInjector,
  requireKafka,
  requireNamedSettings,
  requireProducts,
} from '../../src/kubernetes/needs.ts'
import { temporaryFolder } from '../support.ts'
import { fakeCluster } from './fake-cluster.ts'
import { cleanUp, cluster, failureOf, valuesWith } from './runner-tests.ts'

describe('the runner of Kubernetes', () => {
  cleanUp()

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
})
