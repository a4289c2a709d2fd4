import { expect } from 'chai'
import { newerJob, withJob } from '../../page/lib/jobs.ts'
import { job } from './support/dead-sample.ts'

describe('states of a replay job that arrive in any order', () => {
  const none = { refused: 0, done: 0 }
  const begun = job({ state: 'running', replayed: 0, ...none })
  const later = job({ state: 'running', replayed: 40, ...none })
  const ended = job({ state: 'stopped', replayed: 40, ...none })

  it('never replace a newer state', () => {
    for (const order of [
      [begun, later, ended],
      [ended, begun, later],
      [later, ended, begun],
    ]) {
      const jobs = order.reduce(withJob, new Map())
      expect([...jobs.values()]).to.deep.equal([ended])
    }
    expect(newerJob(later, begun)).to.equal(later)
    expect(newerJob(undefined, begun)).to.equal(begun)
  })
})
