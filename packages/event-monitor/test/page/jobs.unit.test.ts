import { expect } from 'chai'
import { newerJob, withJob } from '../../page/lib/jobs.ts'
import { job } from './support/dead-sample.ts'

describe('withJob', () => {
  const none = { refused: 0, done: 0 }
  const begun = job({ state: 'running', replayed: 0, ...none })
  const later = job({ state: 'running', replayed: 40, ...none })
  const ended = job({ state: 'stopped', replayed: 40, ...none })

  it('keeps the newest state of a job, in every order of arrival', () => {
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
