import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createEnvelope, type FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import { createAnnounce } from '../../src/entity/announcements.ts'
import { limitHandler } from '../../src/sidecar/handler-time.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { RefusedEventError } from '../../src/stream/publishing/publish.ts'
import { virtualTime } from '../support/virtual-time.ts'
import { outage } from './account.ts'

const common = { app: { id: randomUUID(), name: 'a-service' }, creationDate: new Date(0) }
const [PaymentId, OrderId] = [randomUUID(), randomUUID()]
const refunded = () =>
  createEnvelope({
    ...common,
    type: 'PaymentRefunded',
    payload: { PaymentId, OrderId, Amount: 1, Reason: 'a discount' },
  }) as FullEvent
const cancelled = () => createEnvelope({ ...common, type: 'OrderCancelled', payload: { OrderId } }) as FullEvent
const refusal = (event: FullEvent) =>
  new RefusedEventError('paymentevents', event, new SidecarError('publish', new Error('too large'), 'refused'))

/** Announces events of which some fail. Returns the events that were noted as announced, and the error. */
async function announced(events: FullEvent[], failures: Map<FullEvent, Error>) {
  const noted: string[] = []
  const announce = createAnnounce(
    async (_topic, event) => {
      const failure = failures.get(event as FullEvent)
      if (failure) throw failure
    },
    (_key, known) => noted.push(...known.map(({ Id }) => Id)),
  )
  const error = await announce('payment/1', events).catch((thrown: unknown) => thrown)
  return { noted: events.filter(({ Id }) => noted.includes(Id)), error }
}

describe('an announcement of several events', () => {
  it('notes all events of a successful announcement', async () => {
    const events = [refunded(), cancelled(), refunded()]
    expect(await announced(events, new Map())).to.deep.equal({ noted: events, error: undefined })
  })

  it('notes the later events of the same topic after an event that Kafka can never accept', async () => {
    const [first, refused, later] = [refunded(), refunded(), refunded()]
    const failure = refusal(refused)
    const result = await announced([first, refused, later], new Map([[refused, failure]]))
    expect(result.noted).to.deep.equal([first, later])
    expect(result.error).to.equal(failure)
  })

  it('does not note the later events of the same topic after an outage, because they must be announced after it', async () => {
    const [first, failed, later, other] = [refunded(), refunded(), refunded(), cancelled()]
    const failure = outage()
    const result = await announced([first, failed, later, other], new Map([[failed, failure]]))
    expect(result.noted).to.deep.equal([first, other])
    expect(result.error).to.equal(failure)
  })

  it('notes none of the events that follow an outage after an event that Kafka refuses', async () => {
    const [refused, failed, later, other] = [refunded(), refunded(), refunded(), cancelled()]
    const failures = new Map<FullEvent, Error>([[refused, refusal(refused)]])
    failures.set(failed, outage())
    expect((await announced([refused, failed, later, other], failures)).noted).to.deep.equal([other])
  })
})

describe('an announcement that shares an event with an earlier one', () => {
  const time = virtualTime()

  it('waits for the event, although the call of an ended handler failed in between', async () => {
    const accepted = Promise.withResolvers<void>()
    const published: FullEvent[] = []
    const announce = createAnnounce(
      async (_topic, event) => {
        published.push(event as FullEvent)
        await accepted.promise
      },
      () => {},
    )
    const [slow, never] = [refunded(), refunded()]
    const first = announce('payment/1', [slow])
    const ended = Promise.withResolvers<unknown>()
    limitHandler(async () => {
      await delay(20_000)
      ended.resolve(await announce('payment/1', [never]).catch((error: unknown) => error))
    }).catch(() => {})
    for (let step = 0; step < 500; step += 1) await time.pass(50)
    expect(await ended.promise).to.have.property('code', 'handler-timeout')
    let isAnnounced = false
    const second = announce('payment/1', [slow]).then(() => {
      isAnnounced = true
    })
    await time.pass(50)
    expect([isAnnounced, published]).to.deep.equal([false, [slow]])
    accepted.resolve()
    await Promise.all([first, second])
  })
})
