import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anOrder, orderUrl, post, send } from '@orderflow/chaos/clients/api'
import { full, reduced } from '@orderflow/chaos/clients/envelopes'
import type { Order } from '@orderflow/order-service/order'
import { sidecarOf, storedServices } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { openBrowser, openPage } from '@orderflow/stack/browser'
import { jaegerUrl } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { succeeded } from '../specs/operations/commands.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { type JaegerSpan, jaegerAt, linesOf } from './jaeger.ts'
import { prometheusAt } from './prometheus.ts'

const names = storedServices.flatMap((service) => [service.name, sidecarOf(service)])
const spanId = '00f067aa0ba902b7'
const headerOf = (traceId: string, flags: string) => `00-${traceId.replaceAll('-', '')}-${spanId}-${flags}`

/** The spans of every paid order, each after its parent. The parent of a span of daprd is the span of the call to daprd. */
const ofPayment = [
  'order-service: send orderevents > payment-service: process orderevents',
  'order-service: send orderevents > order-service: process orderevents',
  'payment-service: process orderevents > payment-service: change state',
  'payment-service: process orderevents > payment-service: send paymentevents',
  'payment-service: send paymentevents > payment-service: dapr.proto.runtime.v1.Dapr/BulkPublishEventAlpha1',
  'payment-service: dapr.proto.runtime.v1.Dapr/BulkPublishEventAlpha1 > payment-sidecar: /dapr.proto.runtime.v1.Dapr/BulkPublishEventAlpha1',
  'payment-service: send paymentevents > order-service: process paymentevents',
  'order-service: process paymentevents > order-service: change state',
  'order-service: change state > order-service: dapr.proto.runtime.v1.Dapr/ExecuteStateTransaction',
  'order-service: dapr.proto.runtime.v1.Dapr/ExecuteStateTransaction > order-sidecar: /dapr.proto.runtime.v1.Dapr/ExecuteStateTransaction',
]

describe('tracing in a stack with `make observe`', () => {
  let checkout: LocalCheckout
  let stack: StartedCheckout
  let jaeger: ReturnType<typeof jaegerAt>
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'traces-'))
    checkout = await localCheckout('traces')
    // The short delay makes services export spans soon.
    stack = await checkout.start('OTEL_BSP_SCHEDULE_DELAY=100')
    jaeger = jaegerAt(jaegerUrl(checkout.ports))
  })
  after(async () => {
    await checkout?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const place = (headers: Record<string, string> = {}) =>
    post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder, headers).then(({ body }) => body)

  function orderIs(id: string, status: Order['status'] = 'Paid'): Promise<Order> {
    const headers = { traceparent: headerOf(randomUUID(), '00') }
    return eventually(async () => {
      const { body } = await send<Order>(`${orderUrl(stack)}/v1/orders/${id}`, { headers })
      return body.status === status ? body : undefined
    }, `order ${id} to be ${status}`)
  }

  async function traceWith(traceId: string, lines: string[]): Promise<JaegerSpan[]> {
    let found: JaegerSpan[] = []
    const isThere = async () => {
      found = await jaeger.trace(traceId)
      const told = linesOf(found)
      return lines.every((line) => told.includes(line)) || undefined
    }
    await eventually(isThere, 'the trace').catch(() => expect(linesOf(found)).to.include.members(lines))
    return found
  }

  async function publish(envelope: object, ...options: string[]): Promise<void> {
    const file = join(folder, `${randomUUID()}.json`)
    writeFileSync(file, JSON.stringify(envelope))
    succeeded(await stack.orderflow(['publish', file, ...options]))
  }

  const rootsOf = (spans: JaegerSpan[]) =>
    linesOf(spans.filter(({ parentId }) => !spans.some(({ id }) => id === parentId))).map((line) =>
      line.split(' > ').at(-1),
    )

  it('refuses other settings than those of the stack, before it starts or stops a part', async () => {
    const before = await stack.parts()
    const { code, stderr } = await stack.make('observe', 'OTEL_BSP_SCHEDULE_DELAY=200')
    expect(code).to.equal(2)
    expect(stderr).to.contain('error: the stack was started with another value of OTEL_BSP_SCHEDULE_DELAY\nnext: ')
    expect(await stack.parts()).to.deep.equal(before)
  })

  it('starts by one command, together with metrics and alerts, and prints the addresses of the pages', async () => {
    const told = succeeded(await stack.make('observe'))
    const prometheus = `http://localhost:${checkout.ports.prometheus}`
    for (const page of [`${jaegerUrl(checkout.ports)}/`, `${prometheus}/query`, `${prometheus}/alerts`]) {
      expect(told).to.contain(page)
      expect((await fetch(page)).status).to.equal(200)
    }
    await prometheusAt(prometheus).scrapesAll()
    const status = succeeded(await stack.make('status'))
    for (const name of ['jaeger', 'exporter', 'prometheus'])
      expect(status).to.match(new RegExp(`^${name} +running`, 'm'))
  })

  it('records an order from its request to its payment under its TraceId', async () => {
    const { id, traceId } = await place()
    await orderIs(id)
    const spans = await traceWith(traceId, [
      'order-service: POST /v1/orders',
      'order-service: POST /v1/orders > order-service: change state',
      'order-service: POST /v1/orders > order-service: send orderevents',
      'order-service: send orderevents > order-service: dapr.proto.runtime.v1.Dapr/BulkPublishEventAlpha1',
      'order-service: dapr.proto.runtime.v1.Dapr/BulkPublishEventAlpha1 > order-sidecar: /dapr.proto.runtime.v1.Dapr/BulkPublishEventAlpha1',
      ...ofPayment,
    ])
    expect(rootsOf(spans)).to.deep.equal(['order-service: POST /v1/orders'])
    const { tags, links } = spans.find(({ name }) => name === 'process paymentevents') ?? {}
    expect(tags).to.include({
      'span.kind': 'consumer',
      'messaging.destination.name': 'paymentevents',
      'orderflow.event.type': 'PaymentApproved@1',
    })
    expect(links).to.have.lengthOf(1)
    expect(linesOf(await jaeger.trace(links?.[0] ?? ''))).to.deep.equal(['order-service: receive paymentevents'])
  })

  it('continues the trace of a client', async () => {
    const [traceId] = [randomUUID()]
    await orderIs((await place({ traceparent: headerOf(traceId, '01') })).id)
    const spans = await traceWith(traceId, ofPayment)
    expect(spans.find(({ name }) => name === 'POST /v1/orders')).to.include({ parentId: spanId })
  })

  it('omits the traces of unsampled orders', async () => {
    const all = async () => (await jaeger.all(names)).length
    const traceId = randomUUID()
    // Wait until the spans of earlier tests have arrived.
    const last = await place()
    await orderIs(last.id)
    await traceWith(last.traceId, ofPayment)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    const before = await all()
    await orderIs((await place({ traceparent: headerOf(traceId, '00') })).id)
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    expect(await jaeger.trace(traceId)).to.deep.equal([])
    expect(await all()).to.equal(before)
  })

  for (const [variant, make] of Object.entries({ full, reduced })) {
    it(`records how both services consume a ${variant} event of an outside publisher`, async () => {
      const envelope = make()
      await publish(envelope)
      const { traceId } = await orderIs(envelope.Payload.OrderId)
      if ('TraceId' in envelope) expect(traceId).to.equal(envelope.TraceId)
      await traceWith(
        traceId,
        ofPayment.filter((line) => !line.startsWith('order-service: send')),
      )
      // order-service consumes orders in the background, so its span may arrive after the spans of its sidecar.
      const expected = ['order-service: process orderevents', 'payment-service: process orderevents']
      let roots: (string | undefined)[] = []
      const areThere = async () => {
        roots = rootsOf(await jaeger.trace(traceId))
        return (roots.length === expected.length && expected.every((root) => roots.includes(root))) || undefined
      }
      await eventually(areThere, 'the spans of both services').catch(() => {})
      expect(roots).to.have.members(expected)
    })
  }

  it('shows why an event was rejected, and continues the event’s trace in a replay; one search in the logs finds all lines about the event', async () => {
    const envelope = full()
    const broken = { ...envelope, Payload: { ...envelope.Payload, Total: 'much' } }
    await publish(broken, '--raw')
    const aside = ['order-service', 'payment-service'].map(
      (name) => `${name}: process orderevents > ${name}: send orderevents.dead`,
    )
    const spans = await traceWith(envelope.TraceId, aside)
    const processed = spans.filter(({ name }) => name === 'process orderevents')
    expect(processed.map(({ tags }) => tags['error.type'])).to.deep.equal(['invalid-payload', 'invalid-payload'])

    const logs = join(stack.folder, 'logs')
    const telling = readdirSync(logs).filter((file) =>
      readFileSync(join(logs, file), 'utf8').includes(`"correlationId":"${envelope.CorrelationId}"`),
    )
    expect(telling).to.have.members(['order-service.log', 'payment-service.log'])

    const file = join(folder, 'edited.json')
    writeFileSync(file, JSON.stringify(envelope))
    const list = succeeded(await stack.make('dead-letters', 'LIST=invalid-payload/order-service'))
    const [, deadLetter = ''] = /^([0-9a-f]{8}) /m.exec(list) ?? []
    const shown = succeeded(await stack.make('dead-letters', `SHOW=${deadLetter}`))
    expect(shown).to.contain(`trace ${envelope.TraceId}, search logs for ${envelope.CorrelationId}`)
    succeeded(await stack.make('dead-letters', `REPLAY=${deadLetter}`, `FILE=${file}`))
    await orderIs(envelope.Payload.OrderId)
    await traceWith(
      envelope.TraceId,
      ofPayment.filter((line) => !line.startsWith('order-service: send')),
    )
  })

  it('records no personal data', async () => {
    const told = JSON.stringify(await jaeger.all(names))
    expect(told).to.contain('process orderevents')
    for (const value of [anOrder.customerName, anOrder.customerTaxId, 'Grace Hopper']) {
      expect(told).not.to.contain(value)
    }
  })

  it('adds a link to Jaeger to the page of the API', async () => {
    const { body } = await send<{ externalDocs: object }>(`${orderUrl(stack)}/openapi.json`)
    expect(body.externalDocs).to.deep.equal({ description: 'Traces', url: `${jaegerUrl(checkout.ports)}/` })
  })

  it('finds a trace by TraceId and by order id, and each span names its event', async () => {
    const { id, traceId } = await place()
    await orderIs(id)
    await traceWith(traceId, ofPayment)
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const wrong: string[] = []
      page.on('pageerror', ({ message }) => wrong.push(message))
      page.on('console', (message) => message.text().includes('Content Security Policy') && wrong.push(message.text()))
      const url = jaegerUrl(checkout.ports)
      for (const wanted of [traceId, id]) {
        await openPage(page, `${url}/`, page.locator('td', { hasText: 'POST /v1/orders' }).first())
        await page.locator('input').fill(wanted)
        await page.locator('input').press('Enter')
        const span = page.locator('tr.span', { hasText: 'process paymentevents PaymentApproved@1' })
        await span.click()
        await page.locator('dd:visible', { hasText: traceId }).first().waitFor()
      }
      expect(wrong).to.deep.equal([])
    } finally {
      await browser.close()
    }
  })

  it('continues after a restart of Jaeger, and no order waits while Jaeger is dead', async () => {
    succeeded(await stack.orderflow(['restart', 'payment-service']))
    const { id, traceId } = await place()
    await orderIs(id)
    await traceWith(traceId, ['order-service: send orderevents > payment-service: process orderevents'])
    expect(succeeded(await stack.make('status'))).to.match(/^jaeger +running/m)
    await stack.kill('jaeger')
    expect((await stack.make('status')).stdout).to.contain('jaeger (crashed)\nnext: make observe')
    await orderIs((await place()).id)
  })
})
