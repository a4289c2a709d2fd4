import { expect } from 'chai'
import { deadLetterTopic } from '../src/index.ts'

describe('deadLetterTopic', () => {
  it('appends .dead to the name of a topic', () => {
    expect(deadLetterTopic('some-events')).to.equal('some-events.dead')
  })
})
