import { EnvelopeError, envelopeErrorCodes } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/overload-error.ts'
import { SidecarError } from '../../src/sidecar/sidecar-error.ts'
import { faultCodes, faultOf, isInfrastructure, ourFaults } from '../../src/stream/fault.ts'

const refusals = new Set(['broken-rule'])
const refusedByStore = new SidecarError('write state', new Error('too large'), 'refused')

describe('a fault', () => {
  it('is ours when a bug or the platform’s refusal is the reason, and the event’s when it breaks a rule', () => {
    const isOurs = (error: unknown) => ourFaults.has(faultOf(error, refusals).code)
    expect([new TypeError('a bug'), refusedByStore].map(isOurs)).to.deep.equal([true, true])
    const broken = Object.assign(new Error('no'), { code: 'broken-rule' })
    expect([new EnvelopeError({ code: 'not-json', problems: [] }), broken].map(isOurs)).to.deep.equal([false, false])
  })

  it('has a code that is counted, whoever finds it', () => {
    const [ours, found] = [
      ['refused', 'handler-error'],
      ['untrusted', 'broken-rule'],
    ]
    expect(faultCodes(refusals)).to.have.members([...envelopeErrorCodes, ...ours, ...found])
  })

  it('is none as long as the same may succeed later', () => {
    const down = new SidecarError('write state', new Error('down'))
    expect([down, new OverloadError('full')].map(isInfrastructure)).to.deep.equal([true, true])
    expect([refusedByStore, new Error('a bug'), undefined].map(isInfrastructure)).to.deep.equal([false, false, false])
  })

  it('tells what to mend', () => {
    const problems = [{ pointer: '/Name', message: 'is missing' }]
    const error = new EnvelopeError({ code: 'not-an-envelope', problems })
    expect(faultOf(error, refusals)).to.deep.equal({ code: 'not-an-envelope', detail: JSON.stringify(problems) })
    expect(faultOf(refusedByStore, refusals)).to.deep.equal({ code: 'refused', detail: refusedByStore.message })
  })
})
