import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { anOrder, orderUrl, orderWith, paymentUrl, post, send } from '@orderflow/chaos/clients/api'
import { poison, reduced } from '@orderflow/chaos/clients/envelopes'
import { createStore } from '@orderflow/chaos/store'
import { type LogReader, openLog, withAdmin } from '@orderflow/kafka-log'
import type { Order } from '@orderflow/order-service/order'
import { paymentIdOf } from '@orderflow/payment-service/payment'
import { readDeadLetters } from '@orderflow/service-kit/operations'
import {
  freePorts,
  type KafkaConnection,
  type LocalStack,
  type StackPorts,
  serviceNamed,
  services,
  sidecarOf,
  startStack,
  storedServices,
} from '@orderflow/stack'
import { eventually, repository, testFolder } from '@orderflow/stack/base'
import { dataFolder, startPrometheus } from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { createProducer } from '@orderflow/test-kit'
import { expect } from 'chai'
import { metricsIn, type PrometheusApi, prometheusAt, shortened } from './prometheus.ts'

const rules = readFileSync(join(repository, 'components/observe/alerts.yml'), 'utf8')
const { panels } = JSON.parse(readFileSync(join(repository, 'components/observe/dashboard.json'), 'utf8')) as {
  panels: { targets?: { expr: string }[] }[]
}
const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n')

type Position = { partition: number; offset: string }
type Redelivered = Position & { topic: string; deliveries: number }

/** Starts Prometheus for a stack, with alerts that wait for a shorter time. */
async function watched({ folder }: LocalStack, ports: StackPorts): Promise<PrometheusApi> {
  const file = join(folder, 'alerts.yml')
  writeFileSync(file, shortened(rules))
  await startPrometheus(folder, ports, { seconds: 1, rules: file, onProgress: () => {} })
  const prometheus = prometheusAt(`http://127.0.0.1:${ports.prometheus}`)
  await prometheus.scrapesAll()
  return prometheus
}

describe('a stack with Prometheus, whose orders expire after seconds', () => {
  const setting = 'Orders__PaymentWithin'
  let stack: LocalStack
  let prometheus: PrometheusApi
  before(async () => {
    process.env[setting] = '0.1'
    const ports = await freePorts()
    stack = await startStack({ folder: testFolder('observe-deadlines'), ports, detached: false })
    prometheus = await watched(stack, ports)
  })
  after(async () => {
    delete process.env[setting]
    await stack?.stop()
  })

  it('reports late deadlines while the sidecar does not answer', async () => {
    await stack.kill('payment-service', 'SIGSTOP')
    await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)
    await stack.kill('order-sidecar', 'SIGSTOP')
    // The metric is 0 until a minute after the minute of the deadline.
    await prometheus.fires({ alertname: 'DeadlinesLate', service: 'order-service' }, 200_000)
    await stack.kill('order-sidecar', 'SIGCONT')
    await stack.kill('payment-service', 'SIGCONT')
    await prometheus.resolves({ alertname: 'DeadlinesLate' })
  })
})

describe('a stack with Prometheus', () => {
  let stack: LocalStack
  let ports: StackPorts
  let prometheus: PrometheusApi
  before(async () => {
    ports = await freePorts()
    stack = await startStack({ folder: testFolder('observe'), ports, detached: false })
    prometheus = await watched(stack, ports)
  })
  after(() => stack?.stop())

  const place = () => post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)
  async function whilePlacing<T>(work: () => Promise<T>): Promise<T> {
    let isOver = false
    const placing = (async () => {
      while (!isOver) {
        await place().catch(() => {})
        await delay(150)
      }
    })()
    try {
      return await work()
    } finally {
      isOver = true
      await placing
    }
  }
  async function publish(...values: (string | Buffer | null)[]): Promise<void> {
    const producer = createProducer(stack.kafka)
    try {
      await producer.send(...values.map((value) => ({ topic: 'orderevents', value, key: randomUUID() })))
    } finally {
      await producer.close()
    }
  }

  it('lets Prometheus scrape every process', async () => {
    const targets = await prometheus.targets()
    const jobs = ['services', 'sidecars'].flatMap((job) => services.map(({ name }) => `${job} ${name}`))
    expect(targets.map(({ labels }) => [labels.job, labels.service].join(' ').trim())).to.have.members([
      ...jobs,
      'exporter',
    ])
  })

  it('serves no metrics at the public addresses of services', async () => {
    for (const { url } of Object.values(stack.services)) expect((await send(`${url}/metrics`)).status).to.equal(404)
  })

  it('exports every metric that alerts and the dashboard use, with a help text', async () => {
    const { body } = await place()
    await orderWith(orderUrl(stack), body.id, 'Paid')
    await publish(JSON.stringify(reduced({}, { Name: 'OrderShipped' })), poison['not JSON']?.value ?? '')
    const recorded = [...rules.matchAll(/record: (\S+)/g)].map(([, name]) => name)
    const names = metricsIn(`${rules}\n${shown}`).filter((name) => !recorded.includes(name))
    expect(names).to.have.length.above(20)
    for (const name of names) {
      await eventually(async () => (await prometheus.query(name)).length > 0 || undefined, `a value of ${name}`)
    }
    const metadata = await prometheus.metadata()
    for (const name of names) {
      const [said] = metadata[name] ?? metadata[name.replace(/_(bucket|count|sum|total)$/, '')] ?? []
      expect(said?.help, `${name} is not explained`).to.match(/\w/)
    }
  })

  it('keeps fewer than 2,000 series after a thousand hostile publishers and a thousand requests', async () => {
    const hostile = Array.from({ length: 1_000 }, (_, index) => {
      const publisher = { AppId: randomUUID(), AppName: `Ada Lovelace ${index}`, TenantID: `tenant-${index}` }
      return [{ Name: `GB-${index}` }, { Version: index + 2 }].map((own) => reduced({}, { ...publisher, ...own }))
    }).flat()
    await publish(...hostile.map((event) => JSON.stringify(event)))
    const methods = ['GET', 'POST', 'DELETE', 'PROPFIND', 'PURGE']
    for (let index = 0; index < 1_000; index += 1) {
      const method = methods[index % methods.length] ?? ''
      await fetch(`${orderUrl(stack)}/v1/orders/${index % 2 ? randomUUID() : `ada-lovelace-${index}`}`, { method })
    }
    await prometheus.hasSeen('orderflow_events_total{topic="orderevents"}', hostile.length * storedServices.length)
    await prometheus.hasSeen('http_server_request_duration_seconds_count{status="4xx"}', 1_000)
    const [{ value = Number.NaN } = {}] = await prometheus.query('count({__name__=~".+"})')
    expect(value).to.be.within(200, 1_999)
    const texts = JSON.stringify(await prometheus.query('{job=~".+"}'))
    for (const personal of ['Lovelace', 'lovelace', 'GB-', 'tenant-', 'Grace', 'US-1'])
      expect(texts).not.to.contain(personal)
  })

  describe('alerting in a stack', () => {
    it('reports a dead service', async () => {
      await stack.kill('order-service')
      await prometheus.fires({ alertname: 'ProcessDown', service: 'order-service', job: 'services' })
      await stack.restart('order-service')
      await prometheus.resolves({ alertname: 'ProcessDown' })
    })

    it('reports that Kafka is unreachable, which services need it, and that requests fail', async () => {
      await whilePlacing(async () => {
        await stack.kill('kafka')
        await Promise.all([
          prometheus.fires({ alertname: 'KafkaUnreachable' }),
          prometheus.fires({ alertname: 'NotReady', service: 'order-service', part: 'stream' }),
          prometheus.fires({ alertname: 'RequestsFail', service: 'order-service' }),
        ])
        await stack.restart('kafka')
        for (const alertname of ['KafkaUnreachable', 'NotReady', 'RequestsFail'])
          await prometheus.resolves({ alertname })
      })
    })

    it('reports events that services cannot handle, by reason', async () => {
      await publish(poison['not JSON']?.value ?? '')
      for (const { name: service } of storedServices) {
        await prometheus.fires({ alertname: 'DeadLetters', service, reason: 'not-json' })
      }
      await prometheus.resolves({ alertname: 'DeadLetters' })
    })

    it('reports waiting events, and later the orders that were paid too late', async () => {
      await whilePlacing(async () => {
        await stack.kill('payment-service', 'SIGSTOP')
        await prometheus.fires({ alertname: 'EventsWait', group: 'payment-service', topic: 'orderevents' })
        await stack.kill('payment-service', 'SIGCONT')
        for (const window of ['1h', '6h', '3d']) await prometheus.fires({ alertname: 'OrdersPaidLate', window })
        for (const alertname of ['EventsWait', 'OrdersPaidLate']) await prometheus.resolves({ alertname })
      })
    })

    it('reports a slow store, and events that are retried because the store is slow', async () => {
      const store = createStore('sqlite', dataFolder(stack.folder), 0)
      const lockUntil = async (ms: number, work: Promise<unknown>) => {
        let isOver = false
        const over = work.finally(() => {
          isOver = true
        })
        while (!isOver) {
          await store.lock('payment-service', ms)
          await delay(50)
        }
        await over
      }
      await whilePlacing(async () => {
        await lockUntil(1_500, prometheus.fires({ alertname: 'StoreSlow', service: 'payment-service' }))
        // The lock lasts longer than a sidecar waits for it (components/sqlite).
        await lockUntil(
          15_000,
          prometheus.fires({ alertname: 'EventsRetried', service: 'payment-service', topic: 'orderevents' }),
        )
        for (const alertname of ['StoreSlow', 'EventsRetried']) await prometheus.resolves({ alertname })
      })
    })

    it('reports a record if Kafka refuses its dead letter, and /readyz names the record', async () => {
      const dead = 'orderevents.dead'
      const limit = 'max.message.bytes'
      await setTopic(stack.kafka, dead, limit, '1')
      await publish(poison['not JSON']?.value ?? '')
      await prometheus.fires({ alertname: 'RecordStuck', service: 'order-service', topic: 'orderevents' })
      const { body } = await send<{ redelivered: Redelivered[] }>(`${orderUrl(stack)}/readyz`)
      const [stuck] = body.redelivered
      expect(body.redelivered).to.have.length(1)
      expect(stuck?.topic).to.equal('orderevents')
      expect(stuck?.deliveries).to.be.above(10)
      await setTopic(stack.kafka, dead, limit, topics.processes.find(({ name }) => name === dead)?.configs[limit] ?? '')
      await prometheus.resolves({ alertname: 'RecordStuck' })
      // The record was not skipped: its dead letter arrives when the dead-letter topic accepts records again.
      await eventually(async () => {
        const { entries } = await withLog(stack.kafka, readDeadLetters)
        const isOf = ({ partition, offset }: Position) => partition === stuck?.partition && offset === stuck.offset
        return entries.some(({ app, origin }) => app === 'order-service' && isOf(origin))
      }, 'the dead letter')
    })

    it('reports a sidecar that has stopped delivering events', async () => {
      const sidecar = sidecarOf(serviceNamed('payment-service'))
      await stack.kill(sidecar, 'SIGSTOP')
      await place()
      const alert = { alertname: 'SubscriptionStalled', service: 'payment-service', topic: 'orderevents' }
      // Kafka removes the members after up to 45 s, then the watchdog counts for three minutes.
      await prometheus.fires(alert, 280_000)
      expect((await send(`${paymentUrl(stack)}/livez`)).status).to.equal(503)
      expect((await send(`${orderUrl(stack)}/livez`)).status).to.equal(200)
      await stack.kill(sidecar, 'SIGCONT')
      await prometheus.resolves(alert)
    }).timeout(500_000)

    it('reports a topic that a service has stopped consuming, because a bug makes too many events fail', async () => {
      const orders = Array.from({ length: 60 }, () => reduced())
      const texts = orders.map((order) => JSON.stringify(order))
      await publish(...texts)
      for (const { Payload } of orders) await orderWith(orderUrl(stack), Payload.OrderId, 'Paid')
      const repair = breakDocuments(
        join(dataFolder(stack.folder), 'payment.db'),
        orders.map(({ Payload }) => `payment-service||payment/${paymentIdOf(Payload.OrderId)}`),
      )
      await publish(...texts)
      await prometheus.fires({ alertname: 'TopicStopped', service: 'payment-service', topic: 'orderevents' })
      const { status, body } = await send<{ missing: { stream: string } }>(`${paymentUrl(stack)}/readyz`)
      expect(status).to.equal(503)
      expect(body.missing.stream).to.contain('orderevents is no longer consumed')
      repair()
      await stack.kill('payment-service')
      await stack.restart('payment-service')
      await prometheus.resolves({ alertname: 'TopicStopped' })
      const { body: placed } = await place()
      await orderWith(orderUrl(stack), placed.id, 'Paid')
    })
  })
})

async function setTopic(kafka: KafkaConnection, topic: string, name: string, value: string): Promise<void> {
  const [topicResource, set] = [2, 0] as const
  const configs = [{ name, configOperation: set, value }]
  const resources = [{ resourceType: topicResource, resourceName: topic, configs }]
  await withAdmin(kafka, (admin) => admin.incrementalAlterConfigs({ resources }))
}

async function withLog<T>(kafka: KafkaConnection, work: (log: LogReader) => Promise<T>): Promise<T> {
  const log = openLog(kafka)
  return await work(log).finally(() => log.close())
}

/** Replaces stored documents with unreadable ones. Returns a function that restores them. */
function breakDocuments(file: string, keys: string[]): () => void {
  const broken = Buffer.from('{"state":null}').toString('base64')
  const edit = (work: (db: DatabaseSync) => void) => {
    const db = new DatabaseSync(file, { timeout: 10_000 })
    try {
      work(db)
    } finally {
      db.close()
    }
  }
  const before = new Map<string, SQLOutputValue>()
  edit((db) => {
    for (const key of keys) {
      const row = db.prepare('SELECT value FROM state WHERE key = ? AND is_binary').get(key)
      if (!row) throw new Error(`the store has no document ${key}`)
      before.set(key, row.value as SQLOutputValue)
      db.prepare('UPDATE state SET value = ? WHERE key = ?').run(broken, key)
    }
  })
  return () =>
    edit((db) => {
      for (const [key, value] of before) db.prepare('UPDATE state SET value = ? WHERE key = ?').run(value, key)
    })
}
