import { anOrder, orderWith, post } from '@orderflow/chaos/clients/api'
import { type Cluster, clusterMissing, startCluster } from '@orderflow/cluster'
import { buildTimeoutMs, type Installation, prepareInstallation } from '@orderflow/cluster/installation'
import { startServers } from '@orderflow/cluster/servers'
import type { Order } from '@orderflow/order-service/order'
import { eventually, timed } from '@orderflow/stack/base'
import { leaveOut } from '@orderflow/test-kit/not-run'
import { expect } from 'chai'

const title = 'the replicas that KEDA manages'
const missing = await clusterMissing()
const service = 'payment-service'

if (missing) leaveOut(title, missing)
else describe(title, tests)

function tests(this: Mocha.Suite): void {
  // A pod may need minutes to start.
  this.timeout(300_000)
  this.bail(true)
  let cluster: Cluster
  let shop: Installation
  before(async function () {
    this.timeout(buildTimeoutMs)
    cluster = await startCluster({ keda: true, networkPolicies: true, onProgress: timed(), waitMs: buildTimeoutMs })
    shop = await prepareInstallation(cluster, await startServers(cluster, 'mongodb'))
  })
  after(() => cluster?.stop())

  const replicas = async () => (await shop.get<{ spec: { replicas: number } }>('deployment', service)).spec.replicas
  const place = async () => {
    const { status, body } = await post<Order>(`${shop.urlOf('order-service')}/v1/orders`, anOrder)
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.id
  }
  const isPaid = (id: string, timeoutMs?: number) => orderWith(shop.urlOf('order-service'), id, 'Paid', timeoutMs)

  it('start from none when an event waits', async () => {
    await shop.apply('scaling.enabled=true', `services.${service}.replicas=0`)
    // A replica that is ending still handles events.
    const pods = () => shop.kubectl('get', 'pods', `--selector=app.kubernetes.io/name=${service}`, '--output=name')
    await eventually(async () => (await pods()) === '', 'the end of the last replica', 120_000)
    expect(await replicas()).to.equal(0)
    await isPaid(await place(), 120_000)
    expect(await replicas()).to.equal(1)
  })

  it('increase while events wait for a suspended replica', async () => {
    process.kill(await shop.processOf(service), 'SIGSTOP')
    const ids = await Promise.all(Array.from({ length: 20 }, place))
    await eventually(async () => (await replicas()) > 1, 'a second replica', 120_000)
    // The suspended replica keeps some partitions until the kubelet kills it, which takes about two minutes.
    for (const id of ids) await isPaid(id, 240_000)
  })
}
