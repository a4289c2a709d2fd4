import type { ReceivedEnvelope } from '@orderflow/envelope'
import { expect } from 'chai'
import { sendAttributes } from '../../src/stream/observed.ts'

describe('sendAttributes', () => {
  const keyOf = (key: string | undefined) =>
    sendAttributes('orderevents', key, { Name: 'OrderCreated', Version: 1 } as ReceivedEnvelope)[
      'messaging.kafka.message.key'
    ]

  it('includes the key only if it is an id, because a publisher may use personal data as a key', () => {
    const id = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
    expect([id, 'Ada Lovelace', undefined].map(keyOf)).to.deep.equal([id, undefined, undefined])
  })
})
