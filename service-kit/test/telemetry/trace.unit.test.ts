import { expect } from 'chai'
import { traceIdFrom, traceparentOf } from '../../src/telemetry/trace.ts'

const traceId = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'
const hex = traceId.replaceAll('-', '')
const span = '00f067aa0ba902b7'

describe('trace', () => {
  it('gives back the TraceId that a traceparent was made from, in lower case', () => {
    expect(traceIdFrom(traceparentOf(traceId))).to.equal(traceId)
    expect(traceIdFrom(traceparentOf(traceId.toUpperCase()))).to.equal(traceId)
  })

  it('has a new span for every traceparent', () => {
    expect(traceparentOf(traceId)).to.match(new RegExp(`^00-${hex}-[0-9a-f]{16}-01$`))
    expect(traceparentOf(traceId)).not.to.equal(traceparentOf(traceId))
  })

  for (const impossible of ['00000000-0000-0000-0000-000000000000', 'not-a-guid', '', `${traceId}0`]) {
    it(`makes no traceparent of the TraceId "${impossible}", which names no trace`, () => {
      expect(traceparentOf(impossible)).to.equal(undefined)
    })
  }

  it('reads a traceparent of a later version, which may have more to say', () => {
    expect(traceIdFrom(`01-${hex}-${span}-01-more`)).to.equal(traceId)
  })

  const invalid = {
    'no header': undefined,
    'an empty one': '',
    garbage: 'garbage',
    'a trace id of zeros': `00-${'0'.repeat(32)}-${span}-01`,
    'a span id of zeros': `00-${hex}-${'0'.repeat(16)}-01`,
    'upper case': `00-${hex.toUpperCase()}-${span}-01`,
    'version ff': `ff-${hex}-${span}-01`,
    'a digit too many': `00-${hex}-${span}-011`,
    'more than version 00 has': `00-${hex}-${span}-01-more`,
    'a line before it': `x\n00-${hex}-${span}-01`,
  }
  for (const [what, header] of Object.entries(invalid)) {
    it(`takes no TraceId from ${what}`, () => {
      expect(traceIdFrom(header)).to.equal(undefined)
    })
  }
})
