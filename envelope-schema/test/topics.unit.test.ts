import { expect } from 'chai'
import { deadLetterTopic, orderEvents, paymentEvents } from '../src/index.ts'

describe('topics', () => {
  it('have the names under which they are created on the stream', () => {
    const topics = [orderEvents, paymentEvents].flatMap((topic) => [topic, deadLetterTopic(topic)])
    expect(topics).to.deep.equal(['orderevents', 'orderevents.dead', 'paymentevents', 'paymentevents.dead'])
  })
})
