import { randomUUID } from 'node:crypto'
import { createEnvelope, type FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import { createDocuments } from '../../../src/state/documents.ts'
import { createConsumer } from '../../../src/stream/consuming/consumer.ts'
import type { BulkEntry } from '../../../src/stream/log/record.ts'
import { createForward, createPublish, createPublisher } from '../../../src/stream/publishing/publish.ts'
import { guidOf, newTraceId, spanContextIn, traceIdOf, within } from '../../../src/telemetry/context.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { capturedLog } from '../../../src/testing/captured-log.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { openTrust } from '../../support/open-trust.ts'
import { recordedSpans } from '../../support/recorded-spans.ts'

const app = { id: randomUUID(), name: 'a-service' }
const spanId = '00f067aa0ba902b7'
const personal = 'Ada Lovelace'

/** Returns an event, and the entry of a delivery that contains the event. The traceparent of the entry is `header`. */
function eventOf(traceId: string, header?: string, key: string = randomUUID()) {
  const payload = { OrderId: randomUUID(), CustomerName: personal, CustomerTaxId: 'GB-1', Total: 1 }
  const envelope = createEnvelope({
    app,
    type: 'OrderCreated@1',
    traceId: guidOf(traceId),
    correlationId: randomUUID(),
    creationDate: new Date(),
    payload,
  })
  return { envelope, entry: entryOf(JSON.stringify(envelope), header, key) }
}

let offset = 0
function entryOf(text: string, traceparent?: string, key?: string): BulkEntry {
  offset += 1
  const place = { __partition: '2', __offset: String(offset) }
  return {
    entryId: String(offset),
    value: Buffer.from(text),
    metadata: { ...place, ...(key && { __key: key }), ...(traceparent && { traceparent }) },
  }
}

describe('traces of events', () => {
  let recorded: ReturnType<typeof recordedSpans>
  let sidecar: FakeSidecar
  let handle: (event: FullEvent<'OrderCreated'>) => Promise<unknown>
  let log: ReturnType<typeof capturedLog>
  beforeEach(() => {
    recorded = recordedSpans()
    sidecar = new FakeSidecar()
    handle = async () => {}
    log = capturedLog()
  })

  const options = () => ({
    app: 'a-service',
    publish: createPublisher(sidecar),
    trust: openTrust,
    appendTimes: async () => new Map(),
    refusals: new Set<string>(),
    log: log.log,
    now: () => new Date(),
    metrics: createMetrics(),
    tracing: recorded.tracing as typeof recorded.tracing | undefined,
  })
  const consume = (entries: BulkEntry[], given = options()) =>
    createConsumer('orderevents', { OrderCreated: (event) => handle(event) }, given).deliver([entries])
  const publishAs = (tracing: typeof recorded.tracing | undefined) =>
    createPublish(createPublisher(sidecar), { sign: () => undefined }, tracing)
  const named = (name: string) => recorded.spans().filter((span) => span.name === name)
  const headerOf = (index = 0) => spanContextIn(sidecar.published[index]?.headers.traceparent)

  it('the span of an event is a child of the publisher’s span, and links to the span of the delivery', async () => {
    const traceId = newTraceId()
    const { envelope, entry } = eventOf(traceId, `00-${traceId}-${spanId}-01`)
    await consume([entry, eventOf(newTraceId()).entry])
    const [span] = named('process orderevents').filter((one) => one.traceId === traceId)
    const [delivery] = named('receive orderevents')
    expect(span).to.include({ kind: 'consumer', parent: spanId, isError: false })
    expect(span?.links).to.deep.equal([delivery?.spanId])
    expect(span?.attributes).to.deep.equal({
      'messaging.system': 'kafka',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'orderevents',
      'messaging.destination.partition.id': '2',
      'messaging.kafka.offset': offset - 1,
      'messaging.consumer.group.name': 'a-service',
      'messaging.message.id': envelope.Id,
      'messaging.message.conversation_id': envelope.CorrelationId,
      'orderflow.event.type': 'OrderCreated@1',
    })
    expect(delivery).to.include({ kind: 'consumer', parent: undefined })
    expect(delivery?.attributes).to.include({ 'messaging.batch.message_count': 2 })
    expect(delivery?.traceId).not.to.equal(traceId)
  })

  it('the span of a forwarded envelope is a child of the request’s span, or begins another trace if the envelope has another TraceId', async () => {
    const traceId = newTraceId()
    const forward = createForward(createPublisher(sidecar), recorded.tracing)
    const request = recorded.tracing.begin('POST /v1/things', traceId, undefined, { kind: 'server' })
    const { envelope } = eventOf(traceId)
    const { Id: _i, CorrelationId: _c, TraceId: _t, ...reduced } = envelope
    const others = eventOf(newTraceId()).envelope
    await within({ document: undefined, traceId: guidOf(traceId), span: request }, () =>
      Promise.all(
        [reduced, envelope, others].map((one) =>
          forward('orderevents', 'a', { envelope: one, value: Buffer.from('x') }),
        ),
      ),
    )
    request.end()
    const spans = named('send orderevents')
    expect(spans.map((span) => span.traceId)).to.have.members([traceId, traceId, traceIdOf(others.TraceId)])
    for (const [index, span] of spans.entries()) {
      expect(headerOf(index)).to.include({ traceId: span.traceId, isSampled: true })
      if (span.traceId === traceId) expect(span.parent).to.equal(request.context.spanId)
      else expect(span.links).to.deep.equal([request.context.spanId])
    }
  })

  it('an event without a traceparent begins a trace with the event’s TraceId, even if this TraceId is derived', async () => {
    const traceId = newTraceId()
    const { envelope } = eventOf(traceId)
    const { AppId, AppName, Version, Name, CreationDate, Payload } = envelope
    let given = ''
    handle = async (event) => {
      given = event.TraceId
    }
    await consume([entryOf(JSON.stringify(envelope))])
    await consume([entryOf(JSON.stringify({ AppId, AppName, Version, Name, CreationDate, Payload }))])
    const spans = named('process orderevents')
    expect(spans.map((span) => [span.traceId, span.parent])).to.deep.equal([
      [traceId, undefined],
      [traceIdOf(given), undefined],
    ])
  })

  it('the span of an event is in the trace of the event’s TraceId, and links to a publisher’s span in another trace', async () => {
    const traceId = newTraceId()
    const { entry } = eventOf(traceId, `00-${newTraceId()}-${spanId}-00`)
    await consume([entry])
    const [span] = named('process orderevents')
    expect(span).to.include({ traceId, parent: undefined })
    expect(span?.links).to.include(spanId)
  })

  it('the spans of reads, writes and reactions are children of the event’s span, and a reaction’s traceparent names the reaction’s span', async () => {
    const traceId = newTraceId()
    const documents = createDocuments(sidecar, () => new Date())('')
    handle = async ({ TraceId, Payload }) => {
      await documents.read(['a'])
      await documents.change({ key: 'a', bytes: 1, decide: (view) => view.write({ id: Payload.OrderId }) })
      await publishAs(recorded.tracing)('paymentevents', { ...eventOf(traceId).envelope, TraceId })
    }
    await consume([eventOf(traceId, `00-${traceId}-${spanId}-01`).entry])
    const [event] = named('process orderevents')
    const [sent] = named('send paymentevents')
    for (const name of ['read state', 'change state', 'send paymentevents']) {
      expect(named(name).map((span) => [span.traceId, span.parent])).to.deep.equal([[traceId, event?.spanId]])
    }
    expect(sent?.kind).to.equal('producer')
    expect(headerOf()).to.deep.equal({ traceId, spanId: sent?.spanId, isSampled: true })
    expect(sent?.attributes).to.include({ 'orderflow.event.type': 'OrderCreated@1' })
  })

  it('the span of a dead-lettered event names the reason, and the dead letter’s traceparent continues the trace', async () => {
    const traceId = newTraceId()
    const broken = { ...eventOf(traceId).envelope, Payload: { OrderId: personal } }
    await consume([entryOf(JSON.stringify(broken), `00-${traceId}-${spanId}-01`)])
    const [event] = named('process orderevents')
    const [deadLetter] = named('send orderevents.dead')
    expect(event).to.include({ isError: true, traceId })
    expect(event?.attributes).to.include({ 'error.type': 'invalid-payload' })
    expect(deadLetter).to.include({ parent: event?.spanId, kind: 'producer' })
    expect(deadLetter?.attributes).to.include({ 'orderflow.dead_letter.reason': 'invalid-payload' })
    expect(headerOf()).to.deep.equal({ traceId, spanId: deadLetter?.spanId, isSampled: true })
  })

  it('a record that is not an event has a span, too', async () => {
    await consume([entryOf('{')])
    const [event] = named('process orderevents')
    expect(event?.attributes).to.include({ 'error.type': 'not-json' }).and.have.property('messaging.message.id')
    expect(event).to.include({ parent: undefined })
  })

  it('an event has a span for each delivery', async () => {
    handle = async () => {
      throw new SidecarError('write state', new Error(`of ${personal}`))
    }
    const traceId = newTraceId()
    const { envelope, entry } = eventOf(traceId, `00-${traceId}-${spanId}-01`)
    expect(await consume([entry])).to.deep.equal([{ entryId: entry.entryId, status: 'RETRY' }])
    await consume([entry])
    expect(named('process orderevents').map((span) => span.attributes['error.type'])).to.deep.equal([
      'sidecar',
      'sidecar',
    ])
    expect(named('receive orderevents').every(({ isError }) => isError)).to.equal(true)
    expect(log.records[0]).to.include({ traceId: envelope.TraceId, eventId: envelope.Id })
  })

  it('unsampled events have no spans, and their reactions forward the publisher’s traceparent, if any', async () => {
    handle = async ({ TraceId }) => {
      await publishAs(recorded.tracing)('paymentevents', { ...eventOf(newTraceId()).envelope, TraceId })
    }
    const traceId = newTraceId()
    await consume([eventOf(traceId, `00-${traceId}-${spanId}-00`).entry])
    expect(recorded.spans()).to.deep.equal([])
    expect(headerOf()).to.deep.equal({ traceId, spanId, isSampled: false })
    recorded = recordedSpans({ asksParent: true, ratio: 0 })
    await consume([eventOf(traceId).entry])
    expect(recorded.spans()).to.deep.equal([])
    expect(headerOf(1)).to.equal(undefined)
  })

  it('the span of a reaction with another TraceId begins another trace, and links to the handled event’s span', async () => {
    const traceId = newTraceId()
    handle = () => publishAs(recorded.tracing)('paymentevents', eventOf(traceId).envelope)
    await consume([eventOf(newTraceId()).entry])
    const [sent] = named('send paymentevents')
    expect(sent).to.include({ traceId, parent: undefined })
    expect(sent?.links).to.deep.equal([named('process orderevents')[0]?.spanId])
  })

  it('a service without a collector only forwards the traceparent that it received', async () => {
    const traceId = newTraceId()
    handle = async ({ TraceId }) => {
      await publishAs(undefined)('paymentevents', { ...eventOf(newTraceId()).envelope, TraceId })
      await publishAs(undefined)('paymentevents', eventOf(newTraceId()).envelope)
    }
    const header = `00-${traceId}-${spanId}-01`
    await consume([eventOf(traceId, header).entry], { ...options(), tracing: undefined })
    await consume([eventOf(traceId).entry], { ...options(), tracing: undefined })
    const headers = sidecar.published.map((record) => record.headers.traceparent)
    expect(headers).to.deep.equal([header, undefined, undefined, undefined])
  })

  it('the tracestate of the handled event is forwarded within its trace, with and without spans', async () => {
    const traceId = newTraceId()
    const { entry } = eventOf(traceId, `00-${traceId}-${spanId}-01`)
    entry.metadata.tracestate = 'shop%3D1'
    for (const tracing of [recorded.tracing, undefined]) {
      handle = async ({ TraceId }) => {
        await publishAs(tracing)('paymentevents', { ...eventOf(newTraceId()).envelope, TraceId })
        await publishAs(tracing)('paymentevents', eventOf(newTraceId()).envelope)
      }
      await consume([entry], { ...options(), tracing })
    }
    const states = sidecar.published.map(({ headers }) => headers.tracestate)
    expect(states).to.deep.equal(['shop=1', undefined, 'shop=1', undefined])
  })

  it('spans contain no text that a person may have written', async () => {
    const traceId = newTraceId()
    handle = ({ TraceId }) => {
      const { envelope } = eventOf(newTraceId())
      const Payload = { ...envelope.Payload, OrderId: personal }
      return publishAs(recorded.tracing)('paymentevents', { ...envelope, TraceId, Payload })
    }
    const odd = { ...eventOf(traceId).envelope, Name: personal, AppName: personal }
    await consume([eventOf(traceId, undefined, personal).entry, entryOf(JSON.stringify(odd), undefined, personal)])
    expect(recorded.spans()).to.have.lengthOf.above(3)
    expect(JSON.stringify(recorded.spans())).not.to.contain(personal)
  })

  it('the log explains how to correct an event, and masks no word of this explanation that also occurs in the event', async () => {
    const { envelope } = eventOf(newTraceId())
    const broken = { ...envelope, Payload: { ...envelope.Payload, CustomerName: 'number', Total: '1' } }
    await consume([entryOf(JSON.stringify(broken))])
    expect(log.records[0]?.detail).to.contain('must be a number').and.not.contain('***')
  })

  it('each log line about an event contains the event’s ids', async () => {
    handle = async () => {
      log.log.info('seen')
    }
    const { envelope, entry } = eventOf(newTraceId())
    await consume([entry, entryOf('{')])
    const ids = { traceId: envelope.TraceId, correlationId: envelope.CorrelationId, eventId: envelope.Id }
    expect(log.records[0]).to.include({ msg: 'seen', ...ids })
    expect(log.records[1]).to.include({ msg: 'event dead-lettered', reason: 'not-json' }).and.have.property('traceId')
  })
})
