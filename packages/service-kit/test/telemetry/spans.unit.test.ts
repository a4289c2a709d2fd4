import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { asSpan, handled, newTraceId, onBehalfOf, within } from '../../src/telemetry/context.ts'
import { recordedSpans, type ToldSpan } from '../support/recorded-spans.ts'

const internal = { kind: 'internal' } as const

describe('spans', () => {
  let { tracing, spans } = recordedSpans()
  beforeEach(() => {
    ;({ tracing, spans } = recordedSpans())
  })
  const begin = (name: string) => tracing.begin(name, newTraceId(), undefined, { kind: 'server' })
  const named = (wanted: string) => spans().find(({ name }) => name === wanted) as ToldSpan

  describe('a trace', () => {
    const parent = { traceId: newTraceId(), spanId: '00f067aa0ba902b7', isSampled: false }

    it('begins with a span that has the given trace id and the service’s name', () => {
      const traceId = newTraceId()
      tracing.begin('first', traceId, undefined, { kind: 'server', attributes: { a: 1, none: undefined } }).end()
      const { attributes, ...span } = named('first')
      expect(span).to.include({ kind: 'server', traceId, traceFlags: 1, service: 'a-service', isError: false })
      expect(span.parent).to.equal(undefined)
      expect(attributes).to.deep.equal({ a: 1 })
    })

    it('continues with a child of another service’s span', () => {
      tracing.begin('next', parent.traceId, { ...parent, isSampled: true }, { kind: 'consumer' }).end()
      expect(named('next')).to.include({ traceId: parent.traceId, parent: parent.spanId })
    })

    it('follows the caller’s sampling decision, or, without a caller, derives the decision from the trace’s id', () => {
      const of = (ratio: number, asksParent = true) => recordedSpans({ asksParent, ratio }).tracing
      const isSampled = { ...parent, isSampled: true }
      expect([of(0).isSampled(parent.traceId, isSampled), of(1).isSampled(parent.traceId, parent)]).to.deep.equal([
        true,
        false,
      ])
      expect(of(1, false).isSampled(parent.traceId, parent)).to.equal(true)
      const ids = Array.from({ length: 2_000 }, newTraceId)
      const [one, other] = [of(0.1), of(0.1)].map((each) => ids.filter((id) => each.isSampled(id, undefined)))
      expect(one).to.deep.equal(other)
      expect(one?.length).to.be.within(120, 280)
    })
  })

  it('an unsampled request has no spans', async () => {
    expect(await asSpan('work', internal, async () => 1)).to.equal(1)
    expect(await within({ document: {} }, () => asSpan('work', internal, async () => 2))).to.equal(2)
    expect(spans()).to.deep.equal([])
  })

  it('spans of operations are children of their request’s span, and contain an error’s code but no message', async () => {
    const outer = begin('outer')
    const failing = within({ document: {}, span: outer }, () =>
      asSpan('inner', internal, () =>
        asSpan('innermost', internal, async () => {
          await delay(1)
          throw Object.assign(new Error('of Ada Lovelace'), { code: 'conflict' })
        }),
      ),
    )
    await failing.catch(() => {})
    outer.end()
    expect(named('inner').parent).to.equal(named('outer').spanId)
    expect(named('innermost').parent).to.equal(named('inner').spanId)
    expect(named('innermost')).to.include({ isError: true, message: undefined })
    expect(named('innermost').attributes).to.deep.equal({ 'error.type': 'conflict' })
    expect(named('outer').isError).to.equal(false)
  })

  it('the span of a shared operation is a child of the first recorded request, and links to the other requests', async () => {
    const [first, second] = [begin('first'), begin('second')]
    await onBehalfOf([undefined, first, second], () => asSpan('shared', internal, async () => {}))
    expect(named('shared')).to.include({ parent: first.context.spanId, traceId: first.context.traceId })
    expect(named('shared').links).to.deep.equal([second.context.spanId])
  })

  it('a shared operation of unsampled requests has no span', async () => {
    await within({ document: {}, span: begin('gone on') }, () =>
      onBehalfOf([undefined], async () => {
        expect(handled()).to.equal(undefined)
        await asSpan('shared', internal, async () => {})
      }),
    )
    expect(spans()).to.deep.equal([])
  })
})
