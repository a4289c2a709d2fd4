import { anOrder, orderUrl, orderWith, post } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import { services, sidecarOf, storedServices } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { inspectContainers } from '@orderflow/test-kit/containers'
import { expect } from 'chai'
import { describeInContainers } from '../containers/available.ts'
import { type RunningContainers, startCheckout } from '../containers/running-containers.ts'
import { succeeded } from '../specs/operations/commands.ts'
import { jaegerAt } from './jaeger.ts'
import { prometheusAt } from './prometheus.ts'

const observers = ['exporter', 'jaeger', 'prometheus']

describeInContainers('make observe in containers', () => {
  let stack: RunningContainers
  let told: string
  before(async () => {
    stack = await startCheckout()
    told = succeeded(await stack.make('observe'))
  })
  after(() => stack?.stop())

  function pageOf(what: string): string {
    const [, url] = new RegExp(`^${what} +(http\\S+)$`, 'm').exec(told) ?? []
    if (url === undefined) throw new Error(`${what} is missing in the output of make observe:\n${told}`)
    return url
  }

  it('prints the address of each page, and each page responds', async () => {
    for (const what of ['traces', 'metrics', 'alerts', 'scrape targets']) {
      expect((await fetch(pageOf(what))).status, what).to.equal(200)
    }
    const grafana = (await inspectContainers(stack.project, 'grafana')).length > 0
    expect(told).to.contain(grafana ? 'dashboard ' : 'without Grafana')
    if (grafana) expect((await fetch(pageOf('dashboard'))).status).to.equal(200)
  })

  it('lets Prometheus scrape every process', async () => {
    const prometheus = prometheusAt(new URL('/', pageOf('metrics')).href.slice(0, -1))
    await prometheus.scrapesAll()
    const targets = (await prometheus.targets()).map(({ labels }) => [labels.job, labels.service].join(' ').trim())
    const jobs = services.flatMap(({ name }) => [`services ${name}`, `sidecars ${name}`])
    expect(targets).to.have.members([...jobs, 'exporter'])
  })

  it('shows an order as one trace of all services and sidecars involved', async () => {
    const { body } = await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)
    const { traceId } = await orderWith(orderUrl(stack), body.id, 'Paid')
    const everybody = storedServices.flatMap((service) => [service.name, sidecarOf(service)])
    const jaeger = jaegerAt(pageOf('traces').replace(/\/$/, ''))
    let seen: Set<string>
    await eventually(async () => {
      seen = new Set((await jaeger.trace(traceId)).map(({ service }) => service))
      return everybody.every((name) => seen.has(name)) || undefined
    }, 'everybody to be in the trace').catch(() => expect([...seen]).to.have.members(everybody))
  })

  it('appears in `make status`, and starts again if `make up` runs again', async () => {
    succeeded(await stack.make('up'))
    const status = succeeded(await stack.make('status'))
    for (const name of observers) expect(status).to.match(new RegExp(`^${name} +running`, 'm'))
  })

  it('publishes ports only on loopback', async () => {
    for (const { Name, HostConfig } of await inspectContainers(stack.project)) {
      const bindings = Object.values(HostConfig.PortBindings ?? {}).flat()
      for (const { HostIp } of bindings) expect(HostIp, Name).to.be.oneOf(['127.0.0.1', '::1'])
    }
  })

  it('stops with `make down`, and `make up` does not start it again', async () => {
    succeeded(await stack.make('down'))
    expect(await inspectContainers(stack.project)).to.deep.equal([])
    succeeded(await stack.make('up'))
    const names = Object.keys(await stack.parts())
    expect(names).to.include('order-service').and.not.to.include.oneOf(observers)
    const [service] = await inspectContainers(stack.project, 'order-service')
    expect(service?.Config.Env).to.include('OTEL_EXPORTER_OTLP_ENDPOINT=')
    expect(succeeded(await stack.make('status'))).not.to.contain('jaeger')
  })
})
