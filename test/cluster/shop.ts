import { anOrder, orderWith, post } from '@orderflow/chaos/clients/api'
import { audit, totals } from '@orderflow/chaos/ledger/audit'
import { openBook } from '@orderflow/chaos/ledger/book'
import { readApi } from '@orderflow/chaos/ledger/read-api'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { type Load, startHttpLoad } from '@orderflow/chaos/load/http-load'
import { approveUpTo } from '@orderflow/chaos/load/orders'
import { createTally } from '@orderflow/chaos/load/tally'
import { type Cluster, startCluster } from '@orderflow/cluster'
import { buildTimeoutMs, type Installation, prepareInstallation } from '@orderflow/cluster/installation'
import { type Servers, startServers } from '@orderflow/cluster/servers'
import type { Order } from '@orderflow/order-service/order'
import { services } from '@orderflow/stack'
import { eventually, timed } from '@orderflow/stack/base'
import { operatorUser } from '@orderflow/stack/operate'
import { expect } from 'chai'

const ordersPerSecond = 5
/** The time for which clients repeat refused requests after the last order. A connection to a pod that is gone takes 12 s to fail. */
const patienceAfterEndMs = 60_000

/** Places orders in an installation, and records them in a ledger. */
function ordersOf(shop: Installation) {
  const book = openBook({})
  const tally = createTally()
  let load: Load | undefined
  let givesUpAt = Number.POSITIVE_INFINITY
  let checked = 0
  let longestWaitMs = 0
  const url = () => shop.urlOf('order-service')

  async function end(): Promise<void> {
    givesUpAt = Date.now() + patienceAfterEndMs
    await load?.end()
  }

  return {
    /** Places an order, and waits until it is paid. */
    async pays() {
      checked += 1
      const order = { ...anOrder, customerName: `checked ${checked}` }
      book.attempted({ name: order.customerName, source: 'http', total: order.total })
      const begun = performance.now()
      const { status, body } = await post<Order>(`${url()}/v1/orders`, order)
      expect(status, JSON.stringify(body)).to.equal(201)
      book.accepted(order.customerName, body.id)
      await orderWith(url(), body.id, 'Paid')
      longestWaitMs = Math.max(longestWaitMs, performance.now() - begun)
    },

    /** Places orders at a steady rate, until `end`. */
    begin() {
      const plan = (index: number) => ({ name: `cluster ${index}`, total: 42.5, cancelAfterMs: undefined })
      const options = { book, tally, keys: 'k', isOver: () => Date.now() > givesUpAt, patienceMs: 250 }
      load = startHttpLoad(plan, ordersPerSecond, { ...options, urls: [url()] })
    },

    end,

    /** Waits until all orders are paid, and compares the ledger with the log and with the services. */
    async requireEachPaidOnce(servers: Servers) {
      await end()
      for (const { id } of book.query<{ id: string }>('SELECT id FROM attempt WHERE accepted'))
        await orderWith(url(), id, 'Paid')
      await readLog(servers.kafkaOf(operatorUser), book)
      await readApi((service) => shop.urlOf(service), book)
      const findings = audit(book, { views: ['api'], approveUpTo })
      const accepted = book.query('SELECT 1 FROM attempt WHERE accepted').length
      const { lost, duplicated } = totals(findings)
      const wait = Math.round(longestWaitMs / 1_000)
      console.log(
        `      ${accepted} accepted orders, ${lost} lost, ${duplicated} duplicated; the longest wait for a payment was ${wait} s`,
      )
      expect(findings, JSON.stringify(findings)).to.deep.equal([])
      expect(accepted).to.be.above(100)
    },
  }
}

export interface Shop {
  cluster: Cluster
  servers: Servers
  shop: Installation
  orders: ReturnType<typeof ordersOf>
  stop: () => Promise<void>
}

/** Starts a cluster with Dapr, network policies and PostgreSQL, and prepares an installation of the chart. */
export async function startShop(): Promise<Shop> {
  const cluster = await startCluster({ dapr: true, networkPolicies: true, onProgress: timed(), waitMs: buildTimeoutMs })
  try {
    const servers = await startServers(cluster, 'postgresql')
    const shop = await prepareInstallation(cluster, servers)
    const orders = ordersOf(shop)
    const stop = async () => {
      await orders.end()
      await cluster.stop()
    }
    return { cluster, servers, shop, orders, stop }
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** Waits until all pods are ready, and all services answer. A node learns the address of a new pod a moment later than the API server. */
export async function settled(shop: Installation): Promise<void> {
  for (const { name } of services) {
    await shop.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=180s')
    const answers = () =>
      fetch(`${shop.urlOf(name)}/livez`).then(
        ({ ok }) => ok,
        () => false,
      )
    await eventually(answers, `an answer of ${name}`)
  }
}
