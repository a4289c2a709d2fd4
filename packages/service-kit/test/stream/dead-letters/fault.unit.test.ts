import { EnvelopeError, envelopeErrorCodes } from '@orderflow/envelope'
import { expect } from 'chai'
import { OverloadError } from '../../../src/sidecar/batcher.ts'
import { SidecarError } from '../../../src/sidecar/sidecar.ts'
import {
  faultCodes,
  faultOf,
  HandlerError,
  isInfrastructure,
  ourFaults,
} from '../../../src/stream/dead-letters/fault.ts'
import { contractMask } from '../../../src/telemetry/mask.ts'

const refusals = new Set(['broken-rule'])
const refusedByStore = new SidecarError('write state', new Error('too large'), 'refused')

describe('faultOf', () => {
  it('distinguishes faults of our services, such as bugs, from faults of the event', () => {
    const isOurs = (error: unknown) => ourFaults.has(faultOf(error, refusals, contractMask).code)
    const ours = [new TypeError('a bug'), new HandlerError(new TypeError('a bug')), new HandlerError(refusedByStore)]
    expect(ours.map(isOurs)).to.deep.equal([true, true, true])
    const broken = new HandlerError(Object.assign(new Error('no'), { code: 'broken-rule' }))
    expect([new EnvelopeError({ code: 'not-json', problems: [] }), broken].map(isOurs)).to.deep.equal([false, false])
  })

  it('distinguishes bugs of the handler from bugs of the code around it', () => {
    const bug = new TypeError('a bug')
    expect(faultOf(new HandlerError(bug), refusals, contractMask)).to.deep.equal({
      code: 'handler-error',
      detail: 'TypeError: a bug',
    })
    expect(faultOf(bug, refusals, contractMask)).to.deep.equal({ code: 'internal-error', detail: 'TypeError: a bug' })
    // Only an error that a handler throws can be an error of the domain.
    const broken = Object.assign(new Error('no'), { code: 'broken-rule' })
    expect(faultOf(broken, refusals, contractMask).code).to.equal('internal-error')
    expect(
      faultOf(new HandlerError(new EnvelopeError({ code: 'not-json', problems: [] })), refusals, contractMask).code,
    ).to.equal('handler-error')
  })

  it('faultCodes returns every code that a fault can have', () => {
    const [ours, found] = [
      ['refused', 'handler-error', 'internal-error'],
      ['untrusted', 'broken-rule'],
    ]
    expect(faultCodes(refusals)).to.have.members([...envelopeErrorCodes, ...ours, ...found])
  })

  it('treats temporary errors as failures of the infrastructure', () => {
    const down = new SidecarError('write state', new Error('down'))
    const passing = [down, new OverloadError('full'), new HandlerError(down)]
    expect(passing.map(isInfrastructure)).to.deep.equal([true, true, true])
    const others = [refusedByStore, new Error('a bug'), new HandlerError(new Error('a bug')), undefined]
    expect(others.map(isInfrastructure)).to.deep.equal([false, false, false, false])
  })

  it('explains in the field `detail` how to correct the event', () => {
    const problems = [{ pointer: '/Name', message: 'is missing' }]
    const error = new EnvelopeError({ code: 'not-an-envelope', problems })
    expect(faultOf(error, refusals, contractMask)).to.deep.equal({
      code: 'not-an-envelope',
      detail: JSON.stringify(problems),
    })
    const refused = { code: 'refused', detail: refusedByStore.message }
    expect(faultOf(new HandlerError(refusedByStore), refusals, contractMask)).to.deep.equal(refused)
  })
})
