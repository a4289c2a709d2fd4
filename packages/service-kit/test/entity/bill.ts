import { randomUUID } from 'node:crypto'
import { type FullEvent, noTenant, type Tenant } from '@orderflow/envelope'
import { entity } from '../../src/entity/entity.ts'
import type { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { Clock, type Faults, handlerIn, startProcess } from './account.ts'

export const minuteMs = 60_000

interface Bill {
  status: 'new' | 'open' | 'paid' | 'expired'
  /** The time at which the bill expires, a minute after its reminder. */
  due?: string
  isReminded: boolean
}

/** The bills whose decision about a passed deadline has a bug. */
export const broken = new Set<string>()

const common = (id: string) => ({ PaymentId: id, OrderId: id })

/** A bill that expires if it is not paid in time. Its Amount is the time until then, in minutes. */
export const bill = entity({
  name: 'bill',
  id: ({ PaymentId }) => PaymentId,
  events: ['PaymentApproved', 'PaymentRefunded', 'PaymentRejected'],
  initial: { status: 'new', isReminded: false } as Bill,
  evolve: {
    PaymentApproved: (_, { Payload, CreationDate }): Bill => ({
      status: 'open',
      due: new Date(Date.parse(CreationDate) + Payload.Amount * minuteMs).toISOString(),
      isReminded: Payload.Policy === 'without reminder',
    }),
    PaymentRejected: (state) => ({ ...state, isReminded: true }),
    PaymentRefunded: (state, { Payload }): Bill => ({
      ...state,
      status: Payload.Reason === 'paid' ? 'paid' : 'expired',
    }),
  },
  deadlines: ({ status, due, isReminded }) =>
    status === 'open' && due
      ? { Reminder: isReminded ? undefined : new Date(Date.parse(due) - minuteMs), Expiry: due }
      : {},
  onDeadline: {
    Reminder(_, { id }) {
      return {
        PaymentRejected: { ...common(id), Amount: 0, Policy: 'p', Source: 'Manual' as const, Reason: 'reminded' },
      }
    },
    Expiry(_, { id }) {
      if (broken.has(id)) throw new Error('a bug')
      return { PaymentRefunded: { ...common(id), Amount: 0, Reason: 'expired' } }
    },
  },
  commands: {
    open: ({ minutes, policy = 'without reminder' }: { minutes: number; policy?: string }, _, { id }) => ({
      PaymentApproved: { ...common(id), Amount: minutes, Policy: policy, Source: 'Manual' as const },
    }),
    pay: (_: undefined, { status }, { id }) =>
      status === 'open' ? { PaymentRefunded: { ...common(id), Amount: 0, Reason: 'paid' } } : undefined,
  },
  view: (state) => state,
})

/** Starts a process with bills. */
export function startBills(sidecar: FakeSidecar, clock = new Clock(), faults: Faults = {}, definition = bill) {
  const { opened, firing, ...process } = startProcess(definition, sidecar, clock, faults)
  return {
    ...process,
    opened,
    firing,
    open: (minutes: number, id: string = randomUUID(), tenant: Tenant = noTenant) =>
      opened.do.open(id, { minutes }, { tenant }).then(() => id),
    pay: (id: string, tenant: Tenant = noTenant) => opened.do.pay(id, undefined, { tenant }),
    status: async (id: string, tenant: Pick<Tenant, 'id'> = noTenant) => (await opened.state(tenant, id)).status,
    fire: () => firing.sweep(),
    /** Lets time pass in steps, and fires after each. */
    async passing(ms: number, stepMs = 20_000) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        clock.pass(Math.min(stepMs, ms - passed))
        await process.sweep()
        await firing.sweep()
      }
    },
    /** Delivers all events of passed deadlines that are in the log, as after a restart of the consumer. Returns the errors. */
    async decide() {
      const results = await Promise.allSettled(
        firedIn(sidecar).map((event) => handlerIn(opened.reactions, event)(event)),
      )
      return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []))
    },
  }
}

export interface Passed {
  Entity: string
  EntityId: string
  Deadline: string
  Due: string
}

/** Returns the events of passed deadlines, one for each record. */
export const firedIn = (sidecar: FakeSidecar): FullEvent[] =>
  sidecar.published
    .filter(({ topic }) => topic === 'deadlines')
    .map(({ value }) => JSON.parse(Buffer.from(value).toString()) as FullEvent)

export const passedIn = (sidecar: FakeSidecar): Passed[] =>
  firedIn(sidecar).map(({ Payload }) => Payload as unknown as Passed)
