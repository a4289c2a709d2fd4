import { expect } from 'chai'
import { outcomeOf, summaryOf } from '../../page/lib/outcomes.ts'
import type { ServiceVerdict } from '../../src/api/index.ts'

const none = { conflicts: [], publishes: [] }
const accepts: ServiceVerdict = { service: 'a', result: 'changes', changes: [], ...none }
const knows: ServiceVerdict = { service: 'b', result: 'no-effect', why: 'duplicate', ...none }
const ignores: ServiceVerdict = { service: 'c', result: 'no-effect', why: 'not-handled', ...none }
const rejects: ServiceVerdict = {
  service: 'd',
  result: 'dead-letter',
  reason: 'too-late',
  detail: '',
  faults: [],
  conflicts: [],
}
const silent: ServiceVerdict = { service: 'e', result: 'unknown', why: 'it does not answer' }
const keeps: ServiceVerdict = { ...knows, conflicts: ['/Payload/Day'] }
const mixes: ServiceVerdict = { ...accepts, conflicts: ['/Payload/Day'] }

describe('summaryOf', () => {
  const summary = (...services: ServiceVerdict[]) => summaryOf({ services })

  it('reports that an event is ready only if each service accepts or ignores it', () => {
    expect(summary(accepts, knows, ignores)).to.deep.equal({
      kind: 'good',
      text: 'ready: every service would accept this event',
    })
  })

  it('counts the services that reject the event, whose data the edit contradicts, and that do not answer', () => {
    expect(summary(accepts, keeps, rejects)).to.deep.equal({
      kind: 'bad',
      text: '1 of 3 services would reject this event',
    })
    for (const contradicted of [keeps, mixes]) {
      expect(summary(accepts, contradicted, silent)).to.deep.equal({
        kind: 'bad',
        text: 'the edit contradicts the data of 1 of 3 services',
      })
    }
    expect(summary(accepts, silent)).to.deep.equal({
      kind: 'warn',
      text: 'this event is valid, but 1 of 2 services did not answer',
    })
  })
})

describe('outcomeOf', () => {
  it('describes the outcome in each service', () => {
    expect([accepts, knows, ignores, rejects, silent, keeps, mixes].map((one) => outcomeOf(one))).to.deep.equal([
      { kind: 'good', text: 'would accept this event' },
      { kind: 'plain', text: 'has already handled this event and would change nothing' },
      { kind: 'plain', text: 'would ignore this event' },
      { kind: 'bad', text: 'would reject this event: too-late' },
      { kind: 'warn', text: 'did not answer: it does not answer' },
      { kind: 'bad', text: 'would ignore this edit and keep the original event' },
      { kind: 'bad', text: 'would change data that it stored for the original event' },
    ])
  })
})
