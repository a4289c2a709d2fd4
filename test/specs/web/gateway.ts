import { orderUrl, orderWith, paymentsOf, paymentUrl, send } from '@orderflow/chaos/clients/api'
import { full, reduced } from '@orderflow/chaos/clients/envelopes'
import { type RunningStack, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { openLog } from '@orderflow/test-kit'
import { expect } from 'chai'

interface Told {
  items: { outcome: string; id: string | null; code?: string }[]
}

type Envelope = ReturnType<typeof reduced>

const types = { json: 'application/json', lines: 'application/x-ndjson' }
/** The number of envelopes in a body, and the number of clients that publish bodies. */
const [bodySize, clients] = [40, 4]

function publisherTo(running: () => RunningStack) {
  const url = () => `${urlOf(running(), 'event-gateway')}/v1/events/orderevents`
  return (body: string, type = types.json, headers: Record<string, string> = {}) =>
    send<Told>(url(), { method: 'POST', headers: { 'content-type': type, ...headers }, body })
}

export function publishersOverHttp(running: () => RunningStack): void {
  describe('event-gateway', () => {
    const publish = publisherTo(running)
    const outcomesOf = ({ items }: Told) => items.map(({ outcome }) => outcome)

    const bodies: Record<string, [of: Envelope[], text: (of: Envelope[]) => string, type: string]> = {
      'one envelope': [[reduced()], ([one]) => JSON.stringify(one, null, 2), types.json],
      'a list of envelopes': [[full(), reduced(), full()], (all) => JSON.stringify(all), types.json],
      'envelopes on lines': [
        [reduced(), full()],
        (all) => all.map((one) => `${JSON.stringify(one)}\n`).join('\n'),
        types.lines,
      ],
    }
    for (const [what, [of, text, type]] of Object.entries(bodies)) {
      it(`publishes ${what} with the trace of the request, and the orders are paid`, async () => {
        const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
        const { status, body } = await publish(text(of), type, { traceparent })
        expect([status, new Set(outcomesOf(body))]).to.deep.equal([202, new Set(['accepted'])])
        for (const { Payload } of of) {
          const order = await orderWith(orderUrl(running()), Payload.OrderId, 'Paid')
          expect(await paymentsOf(paymentUrl(running()), order.id)).to.have.length(1)
        }
        const log = await openLog(running().kafka, ['orderevents'])
        await log.caughtUp()
        const [first] = of as [Envelope]
        const record = log.records.find(({ key }) => key === first.Payload.OrderId)
        const { Id, CorrelationId, TraceId, ...rest } = JSON.parse(record?.value.toString() ?? '')
        const ids = 'Id' in first ? { Id, CorrelationId, TraceId } : {}
        expect({ ...ids, ...rest }).to.deep.equal(first)
        // The gateway adds the missing ids of a reduced envelope, and reports these ids.
        expect(Id).to.equal(body.items[0]?.id)
        if (!('TraceId' in first)) expect(record?.headers).to.include({ traceparent })
        await log.close()
      })
    }

    it('makes one order and one payment if an envelope without Id is repeated with the same Idempotency-Key', async () => {
      const envelope = reduced()
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const ids = []
      for (const body of [envelope, [full(), envelope]]) {
        ids.push((await publish(JSON.stringify(body), types.json, headers)).body.items.at(-1)?.id)
      }
      expect(ids[0])
        .to.match(/^[\da-f-]{36}$/)
        .and.to.equal(ids[1])
      const order = await orderWith(orderUrl(running()), envelope.Payload.OrderId, 'Paid')
      expect(await paymentsOf(paymentUrl(running()), order.id)).to.have.length(1)
    })

    it('accepts an envelope of the largest size, and rejects a larger envelope', async () => {
      const event = full()
      const sized = (bytes: number) => {
        const text = JSON.stringify({ ...event, Headers: { note: '' } })
        return text.replace('"note":""', `"note":"${'x'.repeat(bytes - text.length)}"`)
      }
      expect((await publish(sized(255 * 1024))).status).to.equal(202)
      await orderWith(orderUrl(running()), event.Payload.OrderId, 'Paid')
      expect((await publish(sized(255 * 1024 + 1))).body.items[0]).to.include({ outcome: 'refused', code: 'too-large' })
    })
  })
}

export function killedGateway(running: () => RunningStack): void {
  describe('event-gateway when it is killed', () => {
    const publish = publisherTo(running)

    for (const part of ['event-gateway', 'event-gateway-sidecar']) {
      it(`loses no accepted envelope when ${part} is killed during requests with many envelopes, and accepts the other envelopes after a retry`, async () => {
        const stream = startStream(publish)
        await eventually(() => stream.accepted.size > 2 * clients * bodySize, 'some of the stream to be accepted')
        await running().kill(part)
        await eventually(() => stream.failed.length >= clients, 'the stream to fail')
        await stream.end()
        await running().restart(part)
        for (const body of stream.failed) {
          await eventually(async () => (await publish(body)).status === 202 || undefined, 'a retry to be accepted')
        }
        const log = await openLog(running().kafka, ['orderevents'])
        await log.caughtUp()
        const found = new Set(log.records.map(({ key }) => key))
        await log.close()
        const lost = [...stream.accepted, ...stream.failed.flatMap(orderIdsIn)].filter((id) => !found.has(id))
        expect(lost).to.deep.equal([])
        // When an order of the last body is paid, the earlier orders in its partition have been paid, too.
        for (const id of stream.failed.slice(-1).flatMap(orderIdsIn)) {
          await orderWith(orderUrl(running()), id, 'Paid')
          expect(await paymentsOf(paymentUrl(running()), id)).to.have.length(1)
        }
      })
    }
  })
}

const orderIdsIn = (body: string) => (JSON.parse(body) as Envelope[]).map(({ Payload }) => Payload.OrderId)

/** Starts clients that publish lists of envelopes. After a call of `end`, each client stops when its current request fails. */
function startStream(publish: (body: string) => Promise<{ status: number; body: Told }>) {
  const accepted = new Set<string>()
  const failed: string[] = []
  let isEnding = false
  async function client(): Promise<void> {
    while (!isEnding) {
      const body = JSON.stringify(Array.from({ length: bodySize }, () => full()))
      const ids = orderIdsIn(body)
      const answer = await publish(body).catch(() => undefined)
      // The gateway may accept only some envelopes of a body.
      for (const [index, { outcome }] of (answer?.body.items ?? []).entries()) {
        if (outcome === 'accepted') accepted.add(ids[index] ?? '')
      }
      if (answer?.status === 202) continue
      failed.push(body)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const all = Promise.all(Array.from({ length: clients }, client))
  return {
    accepted,
    failed,
    async end(): Promise<void> {
      isEnding = true
      await all
    },
  }
}
