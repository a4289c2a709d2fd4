import { entity, type Refused } from '../../src/entity/entity.ts'
import { facts } from '../../src/entity/facts.ts'

/** Declarations that must not compile. `make check` fails if one of them does. */

const payment = { PaymentId: 'p', OrderId: 'o', Amount: 1, Policy: 'p', Source: 'OrderCreated' } as const
const good = {
  name: 'account',
  id: ({ OrderId }: { OrderId: string }) => OrderId,
  events: ['PaymentApproved'],
  initial: { sum: 0 },
  view: (state: { sum: number }) => state,
} as const

export const declarations = [
  entity({
    ...good,
    // @ts-expect-error A payload lacks a field.
    on: { OrderCreated: () => ({ PaymentApproved: { PaymentId: 'p', OrderId: 'o', Amount: 1, Policy: 'p' } }) },
  }),
  entity({
    ...good,
    // @ts-expect-error The entity does not have this event.
    on: { OrderCreated: () => ({ PaymentRefunded: { PaymentId: 'p', OrderId: 'o', Amount: 1, Reason: 'r' } }) },
  }),
  entity({
    ...good,
    // @ts-expect-error One of two events is not the entity's own.
    on: { OrderCreated: () => ({ PaymentApproved: payment, PaymentRefunded: { ...payment, Reason: 'r' } }) },
  }),
  entity({
    ...good,
    // @ts-expect-error The contract does not have this event.
    on: { OrderVanished: () => ({ PaymentApproved: payment }) },
  }),
  entity({
    ...good,
    // @ts-expect-error A field of a payload has the wrong type.
    on: { OrderCreated: () => ({ PaymentApproved: { ...payment, Amount: '1' } }) },
  }),
  entity({
    ...good,
    // @ts-expect-error The event does not have this field.
    evolve: { PaymentApproved: ({ sum }, { Payload }) => ({ sum: sum + Payload.Total }) },
  }),
  entity({
    ...good,
    // @ts-expect-error The state has no such field.
    evolve: { PaymentApproved: ({ total }) => ({ sum: total }) },
  }),
  entity({
    ...good,
    // @ts-expect-error An event of another publisher cannot change the state.
    evolve: { OrderCreated: (state: { sum: number }) => state },
  }),
  entity({
    ...good,
    // @ts-expect-error One of the events lacks the field.
    id: ({ CustomerName }) => CustomerName,
  }),
  entity({
    ...good,
    ...facts(['PaymentApproved']),
    // @ts-expect-error The facts do not have this event.
    view: ({ OrderCreated }) => OrderCreated,
  }),
  entity({
    ...good,
    // @ts-expect-error A command returns an event with a wrong field.
    commands: { pay: (_input: { amount: number }) => ({ PaymentApproved: { ...payment, Source: 'Other' } }) },
  }),
  entity({
    ...good,
    // @ts-expect-error No decision has this deadline.
    deadlines: () => ({ Expri: new Date() }),
    onDeadline: { Expiry: () => ({ PaymentApproved: payment }) },
  }),
  entity({
    ...good,
    // @ts-expect-error A deadline is not a number.
    deadlines: () => ({ Expiry: 5 }),
    onDeadline: { Expiry: () => ({ PaymentApproved: payment }) },
  }),
  entity({
    ...good,
    deadlines: () => ({ Expiry: '2026-01-01T00:00:00Z' }),
    // @ts-expect-error The entity does not have this event.
    onDeadline: { Expiry: () => ({ PaymentRefunded: { PaymentId: 'p', OrderId: 'o', Amount: 1, Reason: 'r' } }) },
  }),
  entity({
    ...good,
    // @ts-expect-error No decision has the name of the schedule.
    every: { Weekly: '0 2 * * 1' },
    onDeadline: { Nightly: () => ({ PaymentApproved: payment }) },
  }),
]

/** A declaration that must compile: the compiler knows the words of an `enum`, although a condition chooses one. */
export const right = entity({
  ...good,
  on: {
    OrderCreated({ Payload: { OrderId, Total } }, _state, { id }) {
      if (Total === 0) return undefined
      const Source = Total < 100 ? 'Manual' : 'OrderCreated'
      return {
        PaymentApproved: {
          ...{ PaymentId: id, OrderId, Amount: 1 },
          Policy: 'p',
          Source: Total < 100 ? 'Manual' : Source,
        },
      }
    },
  },
})

/** A refusal needs a code. */
export const refusal = (refused: typeof Refused): Error[] => [
  // @ts-expect-error The message is missing.
  new refused('limit'),
]
