import { expect } from 'chai'
import { run as publish } from '../../src/cli/publish.ts'
import { otherTopicOf } from '../../src/kafka/record.ts'
import { bytesOf, reduced } from '../support/documents.ts'
import { run } from './run.ts'

describe('envelope publish', () => {
  it('refuses an event that the contract assigns to another topic', async () => {
    const args = ['--brokers', 'localhost:1', '--topic', 'paymentevents', '--mode', 'receiver', '-']
    const { code, out, error } = await run(publish, args, { input: [bytesOf(reduced())] })
    expect({ code, out }).to.deep.equal({
      code: 1,
      out: 'published 0 to paymentevents; 1 invalid, not published\n',
    })
    expect(error).to.equal(
      '-:1: /Name is an event of orderevents, not of paymentevents; use --topic orderevents, or publish it there with --any-topic\n',
    )
  })

  it('accepts an event for its own topic or an unknown topic, and accepts an unknown event for any topic', () => {
    expect(otherTopicOf(reduced(), 'orderevents')).to.equal(undefined)
    expect(otherTopicOf(reduced(), 'mirror')).to.equal(undefined)
    expect(otherTopicOf({ Name: 'Rumour' }, 'orderevents')).to.equal(undefined)
  })
})
