import type { ReceivedEnvelope } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { sendAttributes } from '../../src/stream/messaging.ts'

describe('what a trace tells of an event that is sent', () => {
  const keyOf = (key: string | undefined) =>
    sendAttributes('orderevents', key, { Name: 'OrderCreated', Version: 1 } as ReceivedEnvelope)[
      'messaging.kafka.message.key'
    ]

  it('has its key when that is an id, and no other: a publisher may take persons for keys', () => {
    const id = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
    expect([id, 'Ada Lovelace', undefined].map(keyOf)).to.deep.equal([id, undefined, undefined])
  })
})
