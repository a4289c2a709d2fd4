import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { operatorUser, repository, services, timed } from '@orderflow/cli'
import { type Cluster, clusterMissing, programFile, startCluster } from '@orderflow/cluster'
import { applicationImages, buildTimeoutMs, machines } from '@orderflow/cluster/installation'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import { checkoutOfRepository } from '../support/checkouts/checkout.ts'
import { stepsOf } from '../support/documents/document.ts'
import { followSteps, succeeded, type Workplace } from '../support/documents/follow-document.ts'

const title = 'the guide to Kubernetes'
const namespace = 'orderflow'
const missing = await clusterMissing()

if (missing) leaveOut(title, missing)
else describe(title, tests)

function tests(this: Mocha.Suite): void {
  this.timeout(buildTimeoutMs)
  this.bail(true)
  let cluster: Cluster
  let servers: Servers
  let env: Record<string, string>

  const reader = followSteps(stepsOf(tutorial()), async () => {
    cluster = await startCluster({ networkPolicies: true, onProgress: timed(), waitMs: buildTimeoutMs })
    servers = await startServers(cluster, 'postgresql')
    await cluster.loadImages(applicationImages)
    const checkout = checkoutOfRepository()
    checkout.write('ca.crt', servers.certificate)
    const PATH = [programFile('hyperkube', 'kubectl'), programFile('helm'), process.execPath]
      .map((file) => dirname(file))
      .concat(process.env.PATH ?? '')
      .join(delimiter)
    const CONFIRM = (await cluster.kubectl('config', 'current-context')).trim()
    env = { PATH, CONFIRM, KUBECONFIG: cluster.kubeconfig }
    return { copy: withRealValues(checkout, servers), offset: 0, env }
  })
  after(() => cluster?.stop())
  const make = (args: string[], more = {}) => reader().copy.run('make', args, { ...env, ...more })

  it('shows all pods as running', async () => {
    const { code, stdout } = await make(['status'])
    expect(code, stdout).to.equal(0)
    for (const { name } of services) expect(stdout).to.match(new RegExp(`^${name}-\\S+ +2/2 +running`, 'm'))
  })

  it('passes the acceptance tests', async () => {
    const file = join(reader().copy.folder, 'kubernetes.yaml')
    // The tests have no API keys, and send requests from this machine.
    const values = {
      settings: { Auth__Mode: 'open', Limits__AddressPerMinute: '0' },
      network: { clients: [{ podSelector: {} }, { ipBlock: { cidr: machines } }] },
    }
    reader().copy.write(
      'kubernetes.yaml',
      `${readFileSync(file, 'utf8')}${Object.entries(values)
        .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
        .join('')}`,
    )
    succeeded(await make(['up']))
    const addresses = await Promise.all(
      services.map(async ({ name, http }) => {
        const { spec } = await cluster.get<{ spec: { clusterIP: string } }>('service', name, `--namespace=${namespace}`)
        return [`${name.replace(/^event-|-service$/, '').toUpperCase()}`, `http://${spec.clusterIP}:${http}`] as const
      }),
    )
    const { ORDER, PAYMENT, GATEWAY, MONITOR } = Object.fromEntries(addresses)
    const tested = await make(['-C', 'tools', 'acceptance'], {
      ORDERS_URL: ORDER ?? '',
      PAYMENTS_URL: PAYMENT ?? '',
      GATEWAY_URL: GATEWAY ?? '',
      MONITOR_URL: MONITOR ?? '',
      KAFKA_BROKERS: servers.kafkaOf(operatorUser).bootstrapBrokers.join(),
      KAFKA_POD: 'default/kafka-0',
    })
    console.log(tested.stdout)
    succeeded(tested)
  })

  it('stops everything, and keeps only the Secrets', async () => {
    succeeded(await make(['down']))
    const names = await cluster.kubectl(
      'get',
      'deployments,services,configmaps',
      `--namespace=${namespace}`,
      '--output=name',
    )
    expect(names.trim().split('\n')).to.deep.equal(['configmap/kube-root-ca.crt'])
    expect(await cluster.kubectl('get', 'secrets', `--namespace=${namespace}`, '--output=name')).to.contain(
      'operator-secrets',
    )
  })
}

/** Returns the section of the guide with the steps of a reader. */
function tutorial(): string {
  const [, section = ''] = readFileSync(join(repository, 'docs/kubernetes.md'), 'utf8').split(/^## (?=From a cluster)/m)
  return section.replace(/^## .*/ms, '')
}

/** Replaces the addresses and credentials of the document with those of this test. */
function withRealValues<Place extends Workplace>(place: Place, servers: Servers): Place {
  const replacements: [shown: string, real: string][] = [
    ['kafka.kafka.svc:9092', servers.brokers],
    ['Stream__SaslUsername=admin', `Stream__SaslUsername=${operatorUser}`],
    ['Stream__SaslPassword=...', `Stream__SaslPassword=${servers.passwords[operatorUser]}`],
    ['postgres://orderflow:...@postgresql.data.svc:5432/', `'${servers.storeUri}'`],
  ]
  const replaced = (text: string) => replacements.reduce((all, [shown, real]) => all.replace(shown, real), text)
  return {
    ...place,
    write: (path: string, text: string) => place.write(path, replaced(text)),
    run: (command: string, args: string[], env?: Record<string, string>) => place.run(command, args.map(replaced), env),
  }
}
