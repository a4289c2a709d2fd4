import { expect } from 'chai'
import { createEnvelope, eventTypes, exampleOfField, examplePayload, validateDocument } from '../src/index.ts'

describe('examplePayload', () => {
  it('matches the schema of each event', () => {
    for (const type of eventTypes) {
      const app = { id: '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d', name: 'an-application' }
      const creationDate = new Date('2026-11-21T10:00:00Z')
      const envelope = createEnvelope({ type, app, creationDate, payload: examplePayload(type) })
      expect(validateDocument(envelope, 'publisher').errors, type).to.deep.equal([])
    }
  })

  it('uses the examples of the schema', () => {
    expect(examplePayload('OrderCreated@1')).to.include({ CustomerName: 'Ada Lovelace', Total: 10 })
    expect([exampleOfField('CustomerTaxId'), exampleOfField('Unknown')]).to.deep.equal(['GB-123456789', undefined])
  })
})
