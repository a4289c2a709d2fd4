import { expect } from 'chai'
import { isClean, type Report } from './report.ts'

const row = (source: string, accepted: number) => ({ source, attempted: 9, accepted, inLog: 9, stored: 9, paid: 9 })
const reportWith = (changes: Partial<Report>, orders = [row('http', 9), row('outside', 9)]) =>
  ({ findings: [], behind: 0, counts: { orders }, ...changes }) as unknown as Report

describe('isClean', () => {
  it('returns true if there are no findings and all records are handled', () => {
    expect(isClean(reportWith({}))).to.equal(true)
    expect(isClean(reportWith({ behind: 1 }))).to.equal(false)
    expect(isClean(reportWith({ findings: [{ finding: 'lost', count: 1, examples: {} }] }))).to.equal(false)
  })

  it('returns false if a source has no accepted order', () => {
    expect(isClean(reportWith({}, [row('http', 0), row('outside', 9)]))).to.equal(false)
    expect(isClean(reportWith({}, [row('http', 9)]))).to.equal(false)
  })
})
