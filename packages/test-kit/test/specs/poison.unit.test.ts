import { EnvelopeError, eventTypes, parseEnvelope, selectEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { poisonOf } from '../../src/index.ts'

describe('poisonOf', () => {
  for (const type of eventTypes) {
    it(`returns records of ${type} that a receiver rejects for the given reason`, () => {
      for (const [what, { value, reason, tells }] of Object.entries(poisonOf(type))) {
        const bytes = typeof value === 'string' ? Buffer.from(value) : (value ?? Buffer.from('null'))
        let error: unknown
        try {
          selectEvent(parseEnvelope(bytes), [type])
        } catch (thrown) {
          error = thrown
        }
        expect(error, what).to.be.instanceOf(EnvelopeError)
        expect((error as EnvelopeError).code, what).to.equal(reason)
        expect((error as EnvelopeError).message, what).to.contain(tells)
      }
    })
  }
})
