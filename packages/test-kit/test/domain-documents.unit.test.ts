import { expect } from 'chai'
import { domainDocuments } from '../src/domain-documents.ts'

const texts = (documents: Record<string, unknown>): [string, string][] =>
  Object.entries(documents).map(([key, value]) => [key, JSON.stringify(value)])

describe('domainDocuments', () => {
  it('leaves out the notes of a running service, so a visited document equals its rebuild', () => {
    const rebuilt = { state: { total: 10 }, revision: 1 }
    const live = { ...rebuilt, listed: '0:0:0', unannounced: [], requestHash: 'a hash', visits: 3 }
    expect(domainDocuments(texts({ 'payment/1': live }))).to.deep.equal({ 'payment/1': rebuilt })
  })

  it('leaves out a document that was only visited', () => {
    expect(domainDocuments(texts({ 'payment/1': { visits: 1 } }))).to.deep.equal({})
  })

  it('leaves out the documents of processes, requests and schedules', () => {
    const internal = [
      'list/0',
      'list/0/1',
      'announcing/7',
      'every-payment/Nightly',
      'payment-request/1/claim',
      'fence',
      'log-positions',
      'store-id',
    ]
    const stored = Object.fromEntries([...internal, 'payment/1'].map((key) => [`payment-service||${key}`, {}]))
    expect(domainDocuments(texts(stored))).to.deep.equal({ 'payment/1': {} })
  })
})
