import { expect } from 'chai'
import { guidOf, newTraceId, spanContextIn, traceIdOf, traceparentOf } from '../../src/telemetry/context.ts'

const guid = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'
const traceId = guid.replaceAll('-', '')
const spanId = '00f067aa0ba902b7'

describe('trace', () => {
  it('has the id that a TraceId names, in lower case, and back', () => {
    expect(traceIdOf(guid.toUpperCase())).to.equal(traceId)
    expect(guidOf(traceId)).to.equal(guid)
  })

  for (const impossible of ['00000000-0000-0000-0000-000000000000', 'not-a-guid', '', `${guid}0`]) {
    it(`has no id for the TraceId "${impossible}", which names none`, () => {
      expect(traceIdOf(impossible)).to.equal(undefined)
    })
  }

  it('reads what a traceparent says, whether it is recorded, too', () => {
    for (const isSampled of [true, false]) {
      const context = { traceId, spanId, isSampled }
      expect(spanContextIn(traceparentOf(context))).to.deep.equal(context)
    }
    expect(spanContextIn(`00-${traceId}-${spanId}-03`)).to.include({ isSampled: true })
    expect(spanContextIn(`00-${traceId}-${spanId}-02`)).to.include({ isSampled: false })
  })

  it('reads a traceparent of a later version, which may have more to say', () => {
    expect(spanContextIn(`01-${traceId}-${spanId}-01-more`)).to.deep.equal({ traceId, spanId, isSampled: true })
  })

  it('has ids of its own, others each time', () => {
    expect(newTraceId())
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(newTraceId())
  })

  const invalid = {
    'no header': undefined,
    'an empty one': '',
    garbage: 'garbage',
    'a trace id of zeros': `00-${'0'.repeat(32)}-${spanId}-01`,
    'a span id of zeros': `00-${traceId}-${'0'.repeat(16)}-01`,
    'upper case': `00-${traceId.toUpperCase()}-${spanId}-01`,
    'version ff': `ff-${traceId}-${spanId}-01`,
    'a digit too many': `00-${traceId}-${spanId}-011`,
    'more than version 00 has': `00-${traceId}-${spanId}-01-more`,
    'a line before it': `x\n00-${traceId}-${spanId}-01`,
  }
  for (const [what, header] of Object.entries(invalid)) {
    it(`takes nothing from ${what}`, () => {
      expect(spanContextIn(header)).to.equal(undefined)
    })
  }
})
