import { expect } from 'chai'
import { completeEnvelope, type ReceivedEnvelope, recordId } from '../index.ts'
import { fixturesIn } from './support/documents.ts'

interface Fixture {
  valueBase64: string
  keyBase64?: string
  timestamp: number
  id: string
  traceId: string
  recordId: string
}

describe('completeEnvelope and recordId', () => {
  for (const { file, valueBase64, keyBase64, timestamp, id, traceId, ...expected } of fixturesIn<Fixture>('ids')) {
    it(`derive the ids that fixtures/ids/${file} contains for implementations in all languages`, () => {
      const record = {
        value: Buffer.from(valueBase64, 'base64'),
        key: keyBase64 === undefined ? undefined : Buffer.from(keyBase64, 'base64'),
      }
      const { Id, CorrelationId, TraceId } = completeEnvelope({} as ReceivedEnvelope, record)
      expect([Id, CorrelationId, TraceId]).to.deep.equal([id, traceId, traceId])
      expect(recordId({ ...record, timestamp })).to.equal(expected.recordId)
    })
  }
})
