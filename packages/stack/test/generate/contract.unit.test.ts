import { expect } from 'chai'
import { application } from '../../src/application/services.ts'
import { CliError } from '../../src/base/error.ts'
import { topicConstants } from '../../src/generate/contract.ts'

describe('topicConstants', () => {
  for (const constant of ['class', 'await', '2ndFloor']) {
    it(`refuses the constant ${constant}, which code cannot define`, () => {
      const topics = application.topics.map((topic) => ({ ...topic, constant }))
      expect(() => topicConstants({ ...application, topics }))
        .to.throw(CliError)
        .with.property('nextStep', 'add a "constant" with another name to the topic')
    })
  }
})
