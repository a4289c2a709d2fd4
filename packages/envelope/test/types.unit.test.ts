import { expect } from 'chai'
import {
  completeEnvelope,
  type Envelope,
  type EventName,
  type EventOf,
  type EventType,
  type KnownEvent,
  parseEvent,
  type ReceivedEnvelope,
  selectEvent,
} from '../src/index.ts'
import type { NameOf, VersionOf } from '../src/schemas/types.ts'
import { bytesOf, reduced } from './support/documents.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

const same = <A, B>(_: Same<A, B>) => {}

type Created = EventOf<'OrderCreated@1'>
type Either = EventOf<'OrderCreated@1' | 'OrderCancelled@1'>

// The compiler checks these tests.
describe('EventOf', () => {
  it('contains the literal Name and Version of its type, and its Payload', () => {
    same<Created['Name'], 'OrderCreated'>(true)
    same<Created['Version'], 1>(true)
    same<Created['Payload']['Total'], number>(true)
    same<VersionOf<'OrderCreated@1'>, 1>(true)
    same<NameOf<'OrderCreated@1' | 'OrderCancelled@1'>, 'OrderCreated' | 'OrderCancelled'>(true)
  })

  it('distributes over a union of types', () => {
    same<Either, Created | EventOf<'OrderCancelled@1'>>(true)
    same<KnownEvent['Name'], EventName>(true)
  })

  it('extends the received envelope, also for a generic type', () => {
    const complete = <T extends EventType>(event: EventOf<T>): EventOf<T> & Envelope =>
      completeEnvelope(event, { topic: 't', partition: 0, offset: 0 })
    const event = selectEvent(parseEvent(bytesOf(reduced())), ['OrderCreated@1'])
    const received: ReceivedEnvelope | undefined = event
    expect(event && complete<'OrderCreated@1'>(event)).to.deep.include(received ?? {})
  })
})
