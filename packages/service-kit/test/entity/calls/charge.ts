import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type FullEvent, noTenant, type Tenant } from '@orderflow/envelope'
import type { CallRequest, CallTarget, Outcome } from '../../../src/calls/target.ts'
import { entity } from '../../../src/entity/entity.ts'
import type { Tracing } from '../../../src/telemetry/context.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { Clock, type Faults, handlerIn, Killed, startProcess } from '../account.ts'

export const secondMs = 1_000

interface Charge {
  status: 'new' | 'charging' | 'charged' | 'rejected' | 'stopped'
  attempt: number
  amount: number
}

const common = (id: string) => ({ PaymentId: id, OrderId: id })

/** A charge of an amount by a bank. It is tried a second time, with another key, if the bank refuses the first one. */
export const charge = entity({
  name: 'charge',
  id: ({ PaymentId }) => PaymentId,
  events: ['PaymentApproved', 'PaymentRejected', 'PaymentRefunded'],
  initial: { status: 'new', attempt: 0, amount: 0 } as Charge,
  evolve: {
    PaymentApproved: (_, { Payload: { Amount: amount } }): Charge => ({ status: 'charging', attempt: 1, amount }),
    PaymentRejected: ({ attempt, amount }): Charge => ({
      status: attempt < 2 ? 'charging' : 'rejected',
      attempt: attempt + 1,
      amount,
    }),
    PaymentRefunded: (state, { Payload }): Charge => ({ ...state, status: Payload.Reason as 'charged' | 'stopped' }),
  },
  calls: ({ status, attempt, amount }) => ({
    Charge: status === 'charging' ? { target: 'bank', operation: 'charge', attempt, input: { amount } } : undefined,
  }),
  onCall: {
    Charge(outcome, { status }, { id }) {
      if (outcome.outcome === 'done') return { PaymentRefunded: { ...common(id), Amount: 0, Reason: 'charged' } }
      if (status !== 'charging') return undefined
      const text = { Policy: outcome.code, Reason: outcome.reason, Source: 'Manual' as const }
      return { PaymentRejected: { ...common(id), Amount: 0, ...text } }
    },
  },
  commands: {
    open: (amount: number, _, { id }) => ({
      PaymentApproved: { ...common(id), Amount: amount, Policy: 'p', Source: 'Manual' as const },
    }),
    stop: (_: undefined, { status }, { id }) =>
      status === 'charging' ? { PaymentRefunded: { ...common(id), Amount: 0, Reason: 'stopped' } } : undefined,
  },
  view: (state) => state,
})

type Behaviour = 'done' | 'answer lost' | 'down' | 'refused' | 'throws'

/** A bank that keeps a ledger. It remembers keys, as payment providers do. */
export class Bank implements CallTarget {
  name = 'bank'
  keyLifeMs = 86_400_000
  together = 10
  /** The behaviours of the next requests; afterwards `done`. */
  behaviours: Behaviour[] = []
  requests: CallRequest[] = []
  lookups: CallRequest[] = []
  /** The charges, by key. */
  ledger = new Map<string, { amount: number }>()
  /** The number of requests that run now, and the largest number until now. */
  running = 0
  most = 0
  /** Each request waits for it. */
  answering: Promise<void> = Promise.resolve()
  knowsKeys = true

  async call(request: CallRequest): Promise<Outcome> {
    this.requests.push(request)
    this.running += 1
    this.most = Math.max(this.most, this.running)
    await this.answering
    this.running -= 1
    const behaviour = this.behaviours.shift() ?? 'done'
    if (behaviour === 'down') return { outcome: 'unknown', reason: 'no connection' }
    if (behaviour === 'throws') throw new Error('a bug of the target')
    if (behaviour === 'refused') return { outcome: 'refused', code: 'declined', reason: 'no money' }
    if (!this.ledger.has(request.key) || !this.knowsKeys)
      this.ledger.set(this.knowsKeys ? request.key : randomUUID(), request.input as { amount: number })
    if (behaviour === 'answer lost') return { outcome: 'unknown', reason: 'no answer' }
    return { outcome: 'done', answer: { receipt: request.key } }
  }

  lookup? = async (request: CallRequest): Promise<Outcome | { outcome: 'absent' }> => {
    this.lookups.push(request)
    return this.ledger.has(request.key) ? { outcome: 'done', answer: { receipt: request.key } } : { outcome: 'absent' }
  }
}

/** A store, a log, clocks and a bank for processes with charges. */
export class Charges {
  sidecar: FakeSidecar
  clock = new Clock()
  bank = new Bank()
  readonly type: string

  constructor(type: string) {
    this.type = type
    this.sidecar = new FakeSidecar(type)
  }

  reset(): void {
    this.sidecar = new FakeSidecar(this.type)
    this.clock = new Clock()
    this.bank = new Bank()
  }

  start(faults: Faults = {}, definition = charge, tracing?: Tracing) {
    const targets = { bank: this.bank }
    const started = startProcess(definition, this.sidecar, this.clock, faults, targets, tracing)
    const { opened, firing, sweep, ...process } = started
    /** The Ids of the outcomes that this process has decided. */
    const decided = new Set<string>()
    const decide = async (): Promise<Error[]> => {
      const events = this.outcomes().filter(({ Id }) => !decided.has(Id))
      const results = await Promise.allSettled(
        events.map(async (event) => {
          const isChanged = await handlerIn(opened.reactions, event)(event)
          decided.add(event.Id)
          return isChanged
        }),
      )
      return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []))
    }
    return {
      ...process,
      opened,
      firing,
      sweep,
      decide,
      open: (amount: number, id: string = randomUUID(), tenant: Tenant = noTenant) =>
        opened.do.open(id, amount, { tenant }).then(() => id),
      status: async (id: string, tenant: Pick<Tenant, 'id'> = noTenant) => (await opened.state(tenant, id)).status,
      /** Lets time pass, in steps. In each, it sweeps, fires and decides. Returns the errors of decisions. */
      passing: async (ms: number, stepMs = secondMs): Promise<Error[]> => {
        const errors: Error[] = []
        for (let passed = 0; passed <= ms; passed += stepMs) {
          await sweep()
          await firing.sweep()
          await this.settled()
          errors.push(...(await decide()))
          await this.settled()
          this.clock.pass(stepMs)
        }
        return errors
      },
    }
  }

  /** Waits until the store, the log and the bank get no more calls. Batches have short pauses. */
  async settled(): Promise<void> {
    const activity = () =>
      Object.values(this.sidecar.calls).reduce((sum, count) => sum + count, 0) +
      this.bank.requests.length +
      this.bank.lookups.length -
      this.bank.running
    for (let quiet = 0, before = activity(); quiet < 4; before = activity()) {
      await delay(2)
      quiet = activity() === before ? quiet + 1 : 0
    }
  }

  /** Returns the outcomes in the log. */
  outcomes(): FullEvent[] {
    const all = this.sidecar.published
      .filter(({ topic }) => topic === 'calls')
      .map(({ value }) => JSON.parse(Buffer.from(value).toString()) as FullEvent)
    return [...new Map(all.map((event) => [event.Id, event])).values()]
  }
}

/** Returns the result of work in which the process may die; undefined if it died. */
export async function unlessKilled<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Killed) return undefined
    throw error
  }
}

/** Defines a suite for each type of store. */
export function onEachStore(subject: string, define: (charges: Charges) => void): void {
  for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb'])
    describe(`${subject}, on ${type}`, () => {
      const charges = new Charges(type)
      beforeEach(() => charges.reset())
      define(charges)
    })
}
