import { randomUUID } from 'node:crypto'
import { createEnvelope, type EventName, type FullEvent, noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import type { CallTarget } from '../../src/calls/target.ts'
import { type EntityDefinition, entity, type OwnType, Refused } from '../../src/entity/entity.ts'
import { openEntity } from '../../src/entity/open-entity.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { createDocuments } from '../../src/state/documents.ts'
import type { Reactions } from '../../src/stream/consuming/event-handler.ts'
import { createPublish, createPublisher } from '../../src/stream/publishing/publish.ts'
import type { Tracing } from '../../src/telemetry/context.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import type { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { mortalSidecar } from '../../src/testing/mortal-sidecar.ts'

export { Killed } from '../../src/testing/mortal-sidecar.ts'

export const app = { id: randomUUID(), name: 'payment-service' }
export const accountId = randomUUID()

/** A state that depends on the sequence of events, and on how often each was added. All events of the account have one partition key. */
export interface Account {
  balance: number
  orders: readonly string[]
}

/** The number of attempts in which the decision about an order has a bug. */
export const bugs = new Map<string, number>()

function perhapsFail(orderId: string): void {
  const left = bugs.get(orderId) ?? 0
  bugs.set(orderId, left - 1)
  if (left > 0) throw new Error('a bug')
}

export const account = entity({
  name: 'account',
  id: (payload) => ('PaymentId' in payload ? payload.PaymentId : accountId),
  events: ['PaymentApproved', 'PaymentRefunded'],
  initial: { balance: 0, orders: [] } as Account,
  evolve: {
    PaymentApproved: ({ balance, orders }, { Payload }) => ({
      balance: balance + Payload.Amount,
      orders: [...orders, Payload.Policy],
    }),
    PaymentRefunded: (state, { Payload }) => ({ ...state, balance: state.balance - Payload.Amount }),
  },
  on: {
    OrderCreated: ({ Payload: { OrderId, Total } }, { orders }) => {
      perhapsFail(OrderId)
      if (Total > 1_000) throw new Refused('too-much', 'the total is above 1000')
      return [
        {
          PaymentApproved: {
            ...{ PaymentId: accountId, OrderId: accountId, Amount: Total, Source: 'OrderCreated' as const },
            Policy: `${OrderId} ${orders.length}`,
          },
        },
        { PaymentRefunded: { PaymentId: accountId, OrderId: accountId, Amount: 1, Reason: 'a discount' } },
      ]
    },
    OrderCancelled: ({ Payload: { OrderId } }) => ({
      PaymentRefunded: { PaymentId: accountId, OrderId: accountId, Amount: 2, Reason: `cancelled ${OrderId}` },
    }),
  },
  commands: {
    charge({ OrderId, ...rest }: { OrderId: string; Amount: number; Note?: string }, { balance, orders }, { id }) {
      if (balance + rest.Amount > 100) throw new Refused('limit', 'the limit is 100')
      return {
        PaymentApproved: {
          ...{ PaymentId: id, OrderId: accountId, ...rest, Source: 'Manual' as const },
          Policy: `${OrderId} ${orders.length}`,
        },
      }
    },
    refund: ({ Amount }: { OrderId: string; Amount: number }, _state, { id }) => ({
      PaymentRefunded: { PaymentId: id, OrderId: accountId, Amount, Reason: 'requested' },
    }),
  },
  answersRequest: (event) => event.Name === 'PaymentApproved' && event.Payload.Source === 'Manual',
  view: (state) => state,
})

/** The clocks of a test. */
export class Clock {
  /** Milliseconds since 1970. */
  wall = Date.parse('2026-01-01T00:00:00Z')
  /** Milliseconds since any moment. Never goes back. */
  elapsed = 0
  /** The number of fired deadlines that no service has handled. */
  lag = 0
  /** The time of the log in milliseconds since 1970. */
  get log(): number {
    return this.#begin + this.elapsed
  }
  readonly #begin = this.wall
  pass(ms: number): void {
    this.wall += ms
    this.elapsed += ms
  }
}

export interface Faults {
  /** The number of the call of the sidecar at which the process dies. */
  killAt?: number
  /** True if the process dies after the call, but before its answer. */
  isAfter?: boolean
  /** The difference between the clock of the process and that of the test, in milliseconds. */
  skewMs?: number
}

/** Starts a process with an account. */
export function start(sidecar: FakeSidecar, clock = new Clock(), faults: Faults = {}) {
  const { opened, ...process } = startProcess(account, sidecar, clock, faults)
  return {
    ...opened,
    ...process,
    react: (event: AccountEvent) => handlerIn(opened.reactions, event)(event),
    charge: (Amount: number, idempotencyKey?: string, OrderId: string = randomUUID()) =>
      opened.do.charge(accountId, { OrderId, Amount }, { tenant: noTenant, idempotencyKey }),
    /** Charges a new account. */
    open: (Amount: number, idempotencyKey: string) =>
      opened.do.charge(undefined, { OrderId: accountId, Amount }, { tenant: noTenant, idempotencyKey }),
  }
}

/** Starts a process that may die. */
export function startProcess<
  S,
  V,
  T extends OwnType,
  F extends EventName,
  O extends EventName,
  C extends object,
  D extends string,
  L extends string,
>(
  definition: EntityDefinition<S, V, T, F, O, C, D, L>,
  sidecar: FakeSidecar,
  clock = new Clock(),
  { killAt, isAfter = false, skewMs = 0 }: Faults = {},
  targets: Readonly<Record<string, CallTarget>> = {},
  tracing?: Tracing,
) {
  let count = 0
  const { sidecar: mortal, ...life } = mortalSidecar(sidecar, () => {
    count += 1
    if (count !== killAt) return undefined
    return isAfter ? 'after' : 'before'
  })
  const now = () => new Date(clock.wall + skewMs)
  const problems: unknown[] = []
  const documents = createDocuments(mortal, now, false, {
    elapsed: () => clock.elapsed,
    time: () => clock.log,
    lag: async () => clock.lag,
    report: (error) => void problems.push(error),
  })
  const publishRecord = createPublisher(mortal)
  const publish = createPublish(publishRecord, { sign: () => undefined }, undefined)
  const { log, records } = capturedLog()
  const logNow = () => new Date(clock.log)
  const context = { app, documents, publish, now: logNow, newId: randomUUID, log, tracing }
  const opened = openEntity(definition, context, targets)
  const { announcing, firing } = documents('')
  announcing.onVisit(opened.name, opened.announceStored)
  if (opened.fire) firing.onDue(opened.name, opened.fire)
  if (opened.schedules) announcing.onVisit(opened.schedules.name, opened.announceStored)
  return {
    opened,
    context,
    records,
    problems,
    firing,
    publishRecord,
    sweep: () => announcing.sweep(),
    kill: () => void life.kill(),
    killed: life.killed,
    calls: () => count,
  }
}
export type Process = ReturnType<typeof start>
export type AccountEvent = FullEvent<'OrderCreated'> | FullEvent<'OrderCancelled'>

export const event = <N extends 'OrderCreated' | 'OrderCancelled'>(type: N, Total = 10, OrderId = randomUUID()) =>
  createEnvelope({
    ...{ app: { id: randomUUID(), name: 'shop' }, type, creationDate: new Date('2026-01-01T00:00:00Z') },
    payload: { OrderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total } as never,
  }) as AccountEvent

/** Returns the events in the log: the first record of each Id. Fails if two records have the same Id and different contents. */
export function logOf(sidecar: FakeSidecar): FullEvent[] {
  const texts = new Map<string, string>()
  for (const { value } of sidecar.published.filter(({ topic }) => topic === 'paymentevents')) {
    const text = Buffer.from(value).toString()
    const { Id } = JSON.parse(text) as { Id: string }
    expect(texts.get(Id) ?? text, 'one Id, one content').to.equal(text)
    texts.set(Id, text)
  }
  return [...texts.values()].map((text) => JSON.parse(text))
}

export const revisionsIn = (events: readonly FullEvent[]): unknown[] =>
  events.map(({ Headers }) => (Headers as Record<string, unknown>).Revision)

export async function rebuild(
  process: Process,
  events: readonly FullEvent[],
  id: string = accountId,
): Promise<Account> {
  for (const one of events) await handlerIn(process.rebuild, one)(one)
  return process.state(noTenant, id)
}

export function handlerIn(reactions: Reactions<boolean>, { Name }: FullEvent): (event: FullEvent) => Promise<boolean> {
  const found = Object.values(reactions).flatMap((handlers) => handlers[Name] ?? [])
  return found[0] as (event: unknown) => Promise<boolean>
}

export const outage = () => new SidecarError('call', new Error('no answer'))
