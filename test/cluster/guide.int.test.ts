import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorUser, repository, services, timed } from '@orderflow/cli'
import { type Cluster, clusterMissing, startCluster } from '@orderflow/cluster'
import { applicationImages, buildTimeoutMs, serviceUrls, testValues } from '@orderflow/cluster/installation'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'
import { checkoutOfRepository } from '../support/checkouts/checkout.ts'
import { stepsOf } from '../support/documents/document.ts'
import { followSteps, succeeded, type Workplace } from '../support/documents/follow-document.ts'
import { environmentOf } from './environment.ts'

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
    env = await environmentOf(cluster)
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
    const { copy } = reader()
    const written = readFileSync(join(copy.folder, 'kubernetes.yaml'), 'utf8')
    const added = Object.entries(testValues).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    copy.write('kubernetes.yaml', written + added.join(''))
    succeeded(await make(['up']))
    const urls = await serviceUrls(cluster, namespace)
    const tested = await make(['-C', 'tools', 'acceptance'], {
      ORDERS_URL: urls['order-service'],
      PAYMENTS_URL: urls['payment-service'],
      GATEWAY_URL: urls['event-gateway'],
      MONITOR_URL: urls['event-monitor'],
      KAFKA_BROKERS: servers.kafkaOf(operatorUser).bootstrapBrokers.join(),
      KAFKA_POD: 'default/kafka-0',
    })
    console.log(tested.stdout)
    succeeded(tested)
  })

  it('stops everything, and keeps only the Secrets', async () => {
    succeeded(await make(['down']))
    const namesOf = (kinds: string) => cluster.kubectl('get', kinds, `--namespace=${namespace}`, '--output=name')
    const left = await namesOf('deployments,services,configmaps')
    expect(left.trim().split('\n')).to.deep.equal(['configmap/kube-root-ca.crt'])
    expect(await namesOf('secrets')).to.contain('operator-secrets')
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
