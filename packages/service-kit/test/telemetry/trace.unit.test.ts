import { expect } from 'chai'
import {
  guidOf,
  newTraceId,
  spanContextIn,
  traceHeadersIn,
  traceIdOf,
  traceparentOf,
} from '../../src/telemetry/context.ts'

const guid = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736'
const traceId = guid.replaceAll('-', '')
const spanId = '00f067aa0ba902b7'

describe('traceIdOf and spanContextIn', () => {
  it('traceIdOf converts a TraceId to a trace id in lower case, and guidOf converts it back', () => {
    expect(traceIdOf(guid.toUpperCase())).to.equal(traceId)
    expect(guidOf(traceId)).to.equal(guid)
  })

  for (const impossible of ['00000000-0000-0000-0000-000000000000', 'not-a-guid', '', `${guid}0`]) {
    it(`traceIdOf refuses the TraceId "${impossible}"`, () => {
      expect(traceIdOf(impossible)).to.equal(undefined)
    })
  }

  it('spanContextIn reads the ids of a traceparent, and its sampling decision', () => {
    for (const isSampled of [true, false]) {
      const context = { traceId, spanId, isSampled }
      expect(spanContextIn(traceparentOf(context))).to.deep.equal(context)
    }
    expect(spanContextIn(`00-${traceId}-${spanId}-03`)).to.include({ isSampled: true })
    expect(spanContextIn(`00-${traceId}-${spanId}-02`)).to.include({ isSampled: false })
  })

  it('traceHeadersIn keeps the headers of version 00', () => {
    for (const traceparent of [
      `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      `00-${'a'.repeat(32)}-${'b'.repeat(16)}-03`,
    ])
      expect(traceHeadersIn(traceparent, 'shop=1,other=a b')).to.deep.equal({
        traceparent,
        tracestate: 'shop=1,other=a b',
      })
  })

  it('traceHeadersIn writes a later version as version 00, without its other fields', () => {
    const context = `${'a'.repeat(32)}-${'b'.repeat(16)}`
    for (const version of ['01', 'cc', 'fe'])
      for (const rest of ['', '-', '-ada@example.com'])
        expect(traceHeadersIn(`${version}-${context}-07${rest}`, undefined)).to.deep.equal({
          traceparent: `00-${context}-01`,
        })
  })

  it('traceHeadersIn leaves out invalid headers, and a tracestate without a traceparent', () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    for (const tracestate of ['', 'a=\n', 'a=é', `a=${'1'.repeat(511)}`])
      expect(traceHeadersIn(traceparent, tracestate)).to.deep.equal({ traceparent })
    for (const wrong of [undefined, 'x', `${traceparent}-x`]) expect(traceHeadersIn(wrong, 'a=1')).to.deep.equal({})
  })

  it('spanContextIn reads a traceparent of a later version, which has more fields', () => {
    expect(spanContextIn(`01-${traceId}-${spanId}-01-more`)).to.deep.equal({ traceId, spanId, isSampled: true })
  })

  it('newTraceId returns a valid id, and a different id each time', () => {
    expect(newTraceId())
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(newTraceId())
  })

  const invalid = {
    missing: undefined,
    empty: '',
    'without fields': 'garbage',
    'invalid, with a trace id of zeros': `00-${'0'.repeat(32)}-${spanId}-01`,
    'invalid, with a span id of zeros': `00-${traceId}-${'0'.repeat(16)}-01`,
    'invalid, in upper case': `00-${traceId.toUpperCase()}-${spanId}-01`,
    'invalid, of version ff': `ff-${traceId}-${spanId}-01`,
    'invalid, with an extra digit': `00-${traceId}-${spanId}-011`,
    'invalid, with more fields than version 00 has': `00-${traceId}-${spanId}-01-more`,
    'invalid, after another line': `x\n00-${traceId}-${spanId}-01`,
  }
  for (const [what, header] of Object.entries(invalid)) {
    it(`spanContextIn ignores a traceparent that is ${what}`, () => {
      expect(spanContextIn(header)).to.equal(undefined)
    })
  }
})
