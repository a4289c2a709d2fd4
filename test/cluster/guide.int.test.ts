import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clusterMissing } from '@orderflow/cluster'
import { buildTimeoutMs, serviceUrls, testValues } from '@orderflow/cluster/installation'
import { kafkaHostAddress } from '@orderflow/cluster/servers'
import { services } from '@orderflow/stack'
import { leaveOut } from '@orderflow/test-kit/not-run'
import type { Ended } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { checkoutOfRepository } from '../support/checkouts/checkout.ts'
import { freeOffset } from '../support/checkouts/free-offset.ts'
import type { Step } from '../support/documents/document.ts'
import { followSteps, stepsIn, succeeded } from '../support/documents/follow-document.ts'

const title = 'docs/first-cluster.md'
const namespace = 'orderflow'
const missing = await clusterMissing()

if (missing) leaveOut(title, missing)
else describe(title, tests)

/**
 * Follows the tutorial as a reader who takes `make -C tools cluster`, because kind needs Docker and a registry. The test adds its own steps before
 * and after the reader stops the services.
 */
function tests(this: Mocha.Suite): void {
  this.timeout(buildTimeoutMs)
  this.bail(true)
  // Otherwise make would pass on the variables of the make that runs these tests, such as PART.
  const env = { MAKEFLAGS: '', PART: '' }

  const reader = followSteps(withChecks(stepsIn(title)), async () => {
    const copy = checkoutOfRepository()
    const remove = async () => {
      await copy.run('make', ['-C', 'tools', 'cluster-down'], env)
      copy.remove()
    }
    return { copy: { ...copy, remove }, offset: await freeOffset(), env }
  })

  function withChecks(steps: Step[]): Step[] {
    const down = steps.findIndex((step) => step.do === 'run' && step.script === 'make down\n')
    return [
      ...steps.slice(0, down),
      { do: 'act', what: 'sees all pods running', act: seePods },
      { do: 'act', what: 'sees that other users cannot read the credentials', act: seeCredentials },
      { do: 'act', what: 'passes the acceptance tests', act: passAcceptance },
      { do: 'act', what: 'rebuilds the lost store of a stopped service', act: rebuildStore },
      ...steps.slice(down, down + 1),
      { do: 'act', what: 'sees that only the Secrets are left', act: seeSecrets },
      { do: 'act', what: 'starts the services after all stores are rebuilt', act: startRebuilt },
      ...steps.slice(down + 1),
      { do: 'act', what: 'sees that the credentials are removed', act: seeNoCredentials },
    ]
  }

  /** Runs a command in a terminal of the reader. */
  const run = (command: string, more = {}): Promise<Ended> =>
    reader().copy.run('bash', ['-euc', `. .stack/cluster.sh\n${command}`], { ...env, ...more })
  const fileOf = (name: string) => join(reader().copy.folder, name)

  async function seePods(): Promise<void> {
    const { code, stdout } = await run('make status')
    expect(code, stdout).to.equal(0)
    for (const { name } of services) {
      const running = stdout.match(new RegExp(`^${name}-\\S+ +2/2 +running`, 'gm'))
      expect(running, name).to.have.length(name === 'payment-service' ? 2 : 1)
    }
  }

  async function seeCredentials(): Promise<void> {
    expect((await run('stat --format %a .stack/cluster.sh')).stdout).to.equal('600\n')
    expect((await run('git status --porcelain')).stdout).to.equal('?? kubernetes.yaml\n')
  }

  async function passAcceptance(): Promise<void> {
    // These tests need the usual limit of amounts.
    const written = readFileSync(fileOf('kubernetes.yaml'), 'utf8').replace(/^settings: .*\n/m, '')
    const added = Object.entries(testValues).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    reader().copy.write('kubernetes.yaml', written + added.join(''))
    succeeded(await run('make up'))
    const get = async (...args: string[]) =>
      JSON.parse((await run(`kubectl get --output=json ${args.join(' ')}`)).stdout)
    const urls = await serviceUrls({ get }, namespace)
    const tested = await run('make -C tools acceptance', {
      ORDERS_URL: urls['order-service'],
      PAYMENTS_URL: urls['payment-service'],
      GATEWAY_URL: urls['event-gateway'],
      MONITOR_URL: urls['event-monitor'],
      KAFKA_BROKERS: kafkaHostAddress,
      KAFKA_POD: 'default/kafka-0',
    })
    console.log(tested.stdout)
    succeeded(tested)
  }

  const inPostgresql = async (database: string, sql: string) => {
    const command = `kubectl exec postgresql-0 -- psql --username=orderflow --tuples-only --no-align --dbname=${database}`
    const ended = await run(`${command} --command='${sql}'`)
    succeeded(ended)
    return ended.stdout.trim()
  }
  /** Returns the number of payments. A rebuild restores neither claims nor the shards of a list. */
  const payments = () =>
    inPostgresql('payment-service', 'SELECT count(*) FROM state WHERE strpos(key, $$payment/$$) > 0')

  /** Follows docs/kubernetes.md#a-lost-store for one service. */
  async function rebuildStore(): Promise<void> {
    const before = await payments()
    succeeded(await run(`kubectl scale --namespace=${namespace} deployment/payment-service --replicas=0`))
    await run(
      `kubectl wait --namespace=${namespace} --for=delete pod --selector=app.kubernetes.io/name=payment-service`,
    )
    await inPostgresql('postgres', 'DROP DATABASE "payment-service" WITH (FORCE)')
    const rebuilt = await run('make rebuild SERVICE=payment-service')
    console.log(rebuilt.stdout)
    succeeded(rebuilt)
    expect(await payments()).to.equal(before)
    succeeded(await run('make status'))
  }

  /** Lets all services with a store start after a rebuild. */
  async function startRebuilt(): Promise<void> {
    const before = await payments()
    await inPostgresql('postgres', 'DROP DATABASE "payment-service" WITH (FORCE)')
    succeeded(await run('make up REBUILD=1'))
    expect(await payments()).to.equal(before)
    const refused = await run('make up REBUILD=1')
    expect(refused.stderr).to.contain('already run')
    succeeded(await run('make down'))
  }

  async function seeSecrets(): Promise<void> {
    const namesOf = async (kinds: string) =>
      (await run(`kubectl get ${kinds} --namespace=${namespace} --output=name`)).stdout
    const left = await namesOf('deployments,services,configmaps')
    expect(left.trim().split('\n')).to.deep.equal(['configmap/kube-root-ca.crt'])
    expect(await namesOf('secrets')).to.contain('operator-secrets')
  }

  async function seeNoCredentials(): Promise<void> {
    expect(existsSync(fileOf('.stack/cluster.sh'))).to.equal(false)
  }
}
