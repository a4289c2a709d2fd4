import { type Entity, entity, facts, openEntity, type ServiceDefinition, timeOf } from '@orderflow/service-kit'
import { expect } from 'chai'
import { event, later, scenario } from '../../src/scenario/index.ts'
import { msOf } from '../../src/scenario/steps.ts'
import { temporaryService, withoutCi } from './notes-service.ts'

const OrderId = '5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6'
const created = event('OrderCreated', { OrderId, Total: 10 })
const approved = event('PaymentApproved', { OrderId, Amount: 10 })
const [reminded, expired] = [{ Name: 'OrderReminded' }, { Name: 'OrderExpired' }]
const minuteMs = 60_000

/** The names of all that happens to holds, in all runs of a scenario. */
let happened: string[]
/** The bug of each firing. */
let failure: Error | undefined

/** Returns a service whose orders are reminded after 15 minutes, and expire after 30 if they are not paid. */
function holds(
  expire: (id: string, isKnown: boolean) => object = (OrderId) => ({ OrderExpired: { OrderId, Total: 10 } }),
) {
  return temporaryService('order-service', (context) => {
    happened.push('start')
    /** Lost when the process ends. */
    const known = new Set<string>()
    const hold = entity({
      name: 'hold',
      id: ({ OrderId }) => OrderId,
      events: ['OrderReminded', 'OrderExpired'],
      ...facts(['OrderCreated', 'OrderReminded', 'OrderExpired', 'PaymentApproved']),
      on: {
        OrderCreated: ({ Payload }) => void known.add(Payload.OrderId),
        PaymentApproved: () => void happened.push('paid'),
      },
      deadlines({ OrderCreated, OrderReminded, OrderExpired, PaymentApproved }) {
        const after = (minutes: number) => new Date(timeOf(OrderCreated as never).getTime() + minutes * minuteMs)
        if (!OrderCreated || OrderExpired || PaymentApproved) return {}
        return { Reminder: OrderReminded ? undefined : after(15), Expiry: after(30) }
      },
      onDeadline: {
        Reminder(_, { id }) {
          happened.push('reminded')
          return { OrderReminded: { OrderId: id, PayableUntil: '2026-01-01T00:30:00.000Z' } }
        },
        Expiry(_, { id }) {
          happened.push('expired')
          return expire(id, known.has(id)) as never
        },
      },
      view: (state) => state,
    })
    const opened = openEntity(hold, context)
    const { fire } = opened as Entity<unknown, unknown, object>
    const counted = async (...args: Parameters<NonNullable<typeof fire>>) => {
      if (failure) throw failure
      const isFirst = (await fire?.(...args)) === true
      happened.push(isFirst ? 'fired' : 'fired again')
      return isFirst
    }
    return { routes: [], entities: [{ ...opened, fire: counted }] }
  })
}

const messageOf = async (run: Promise<void>) => (await run.catch((error: unknown) => error as Error))?.message ?? ''

describe('a scenario with deadlines', () => {
  withoutCi()
  let service: ServiceDefinition
  beforeEach(() => {
    happened = []
    failure = undefined
    service = holds()
  })

  it('lets no deadline pass before its time', () =>
    scenario(service).given(created).when(later('14.9 minutes')).then({ published: [] }))

  it('accepts days, hours, minutes and seconds', () => {
    const durations = ['0.5 days', '1 hour', '30 minutes', '1 second'] as const
    expect(durations.map(msOf)).to.deep.equal([43_200_000, 3_600_000, 1_800_000, 1_000])
  })

  it('lets a deadline pass before, between and after other events', async () => {
    await scenario(service).given(created, later('15 minutes')).when(approved).then({})
    const runs = happened
      .filter((what) => what !== 'fired again')
      .join(' ')
      .split('start ')
    const wanted = ['fired reminded paid paid ', 'fired paid paid ', 'paid paid ']
    expect(runs).to.include.members(wanted)
  })

  it('keeps the sequence of deadlines and other events with inOrder', async () => {
    await scenario(service)
      .given(created, later('30 minutes'))
      .when(approved)
      .inOrder()
      .then({ published: [reminded, expired] })
    await scenario(service).given(created, approved).when(later('30 minutes')).inOrder().then({ published: [] })
  })

  it('lets deadlines pass before later requests and later times', async () => {
    await scenario(service)
      .given(created, later('30 minutes'))
      .when(later('1 second'), approved)
      .then({ published: [reminded, expired] })
  })

  it('fires each deadline twice, and in some runs kills the process', async () => {
    await scenario(service)
      .given(created)
      .when(later('15 minutes'))
      .then({ published: [reminded] })
    const count = (wanted: string) => happened.filter((what) => what === wanted).length
    expect(count('fired again')).to.be.at.least(count('reminded'))
    // Two thirds of the runs start another process, and each tenth run a rebuild.
    expect(count('start')).to.be.greaterThan(1.3 * count('reminded'))
  })

  it('finds a decision that needs the memory of its process', async () => {
    const forgetful = holds((OrderId, isKnown) =>
      isKnown ? { OrderExpired: { OrderId, Total: 10 } } : { OrderReminded: { OrderId } },
    )
    const message = await messageOf(
      scenario(forgetful)
        .given(created)
        .when(later('30 minutes'))
        .then({ published: [reminded, expired] }),
    )
    expect(message).to.contain('the process is killed')
  })

  it('leaves the other clocks as they are when another process takes over', async () => {
    await scenario(service)
      .given(created, later('29.9 minutes'))
      .when(later('1 second'))
      .then({ published: [reminded] })
  })

  it('names deadlines that do not pass, with the reason', async () => {
    failure = new Error('a planted bug')
    const message = await messageOf(scenario(service).given(created).when(later('15 minutes')).then({}))
    expect(message).to.contain('deadlines are due, but do not pass').and.to.contain('a planted bug')
  })
})

describe('a scenario with a schedule', () => {
  withoutCi()
  const due = { Name: 'OrderReminded', Payload: { OrderId, PayableUntil: '2026-01-02T02:00:00.000Z' } }
  const nightly = () =>
    temporaryService('order-service', (context) => {
      const night = entity({
        name: 'night',
        id: ({ OrderId }) => OrderId,
        events: ['OrderReminded'],
        initial: { count: 0 },
        evolve: { OrderReminded: ({ count }) => ({ count: count + 1 }) },
        every: { Night: { cron: '0 2 * * *', of: OrderId } },
        onDeadline: {
          Night: (_, { id, due }) => ({ OrderReminded: { OrderId: id, PayableUntil: due.toISOString() } }),
        },
        view: (state) => state,
      })
      return { routes: [], entities: [openEntity(night, context)] }
    })

  it('lets its times pass once, and not before', async () => {
    await scenario(nightly()).when(later('1.9 hours')).then({ published: [] })
    await scenario(nightly())
      .when(later('26 hours'), later('20 hours'))
      .then({ published: [due], stored: { [`night/${OrderId}`]: { state: { count: 1 } } } })
  })
})
