import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type EventName, type FullEvent, noTenant } from '@orderflow/envelope-schema'
import {
  createDocuments,
  createHttpTarget,
  createPublish,
  createPublisher,
  currencyOf,
  openEntity,
  type Reactions,
  type TargetSettings,
} from '@orderflow/service-kit'
import { capturedLog, FakeSidecar } from '@orderflow/service-kit/testing'
import { type Provider, startProvider } from '@orderflow/test-kit/provider'
import { payment } from '../src/payment.ts'
import { byProvider } from '../src/policy.ts'
import { app, paymentId } from './payments.ts'

export const secondMs = 1_000
export const hourMs = 3_600_000

/** A store, a log, a clock and a simulated provider. */
export class Shop {
  readonly sidecar = new FakeSidecar()
  /** Milliseconds since any moment. */
  elapsed = 0
  readonly provider: Provider
  readonly settings: TargetSettings
  static readonly begin = Date.parse('2026-11-21T10:00:00Z')

  private constructor(provider: Provider, settings: TargetSettings) {
    this.provider = provider
    this.settings = settings
  }

  static async open(changes: Partial<TargetSettings> = {}): Promise<Shop> {
    const time = () => new Date(Shop.begin + shop.elapsed)
    const provider = await startProvider({ secret: 's3cret', now: time })
    const shop: Shop = new Shop(provider, {
      ...{ Address: provider.url, Secret: 's3cret', TimeoutSeconds: 5, Together: 10, KeyHours: 24, Lookup: true },
      ...{ AllowedAddresses: '127.0.0.0/8', ...changes },
    })
    return shop
  }

  /** Starts a process of the service. Its breaker does not open for long, because time of the tests is virtual. */
  start() {
    const time = () => Shop.begin + this.elapsed
    const documents = createDocuments(this.sidecar, () => new Date(time()), false, {
      elapsed: () => this.elapsed,
      time,
    })
    const publish = createPublish(createPublisher(this.sidecar), { sign: () => undefined }, undefined)
    const target = createHttpTarget('Provider', this.settings, { pauseMs: 1 })
    const context = { app, documents, publish, now: () => new Date(time()), newId: randomUUID, log: capturedLog().log }
    const payments = openEntity(payment(byProvider, currencyOf('EUR')), context, { provider: target })
    const { announcing, firing } = documents('')
    announcing.onVisit(payments.name, payments.announceStored)
    if (payments.fire) firing.onDue(payments.name, payments.fire)
    const decided = new Set<string>()
    const handling = (reactions: Reactions<boolean>) => async (event: FullEvent) => {
      const found = Object.values(reactions).flatMap((handlers) => handlers[event.Name as EventName] ?? [])
      await (found[0] as (event: FullEvent) => Promise<boolean>)(event)
    }
    const react = handling(payments.reactions)
    /** Decides about the outcomes in the log. Returns the errors. */
    const decide = async (): Promise<Error[]> => {
      const errors: Error[] = []
      for (const event of this.events('calls').filter(({ Id }) => !decided.has(Id))) {
        decided.add(event.Id)
        await react(event).catch((error: Error) => errors.push(error))
      }
      return errors
    }
    return {
      react,
      restore: handling(payments.rebuild),
      /** Lets time pass in steps. In each, calls are made and decided. Returns the errors of decisions. */
      passing: async (ms = 0, stepMs = secondMs): Promise<Error[]> => {
        const errors: Error[] = []
        for (let passed = 0; passed <= ms; passed += stepMs) {
          await announcing.sweep()
          await firing.sweep()
          // A decision may lead to another call.
          for (let count = -1; count !== this.events('calls').length; ) {
            count = this.events('calls').length
            await this.settled()
            errors.push(...(await decide()))
          }
          this.elapsed += stepMs
        }
        return errors
      },
      get: () => payments.get(noTenant, paymentId),
    }
  }

  /** Waits until the store, the log and the provider get no more calls. */
  async settled(): Promise<void> {
    const activity = () =>
      Object.values(this.sidecar.calls).reduce((sum, count) => sum + count, 0) + this.provider.requests
    for (let quiet = 0, before = activity(); quiet < 4; before = activity()) {
      await delay(5)
      quiet = activity() === before ? quiet + 1 : 0
    }
  }

  /** Returns the events of a topic, each once. */
  events(topic = 'paymentevents'): FullEvent[] {
    const all = this.sidecar.published
      .filter((record) => record.topic === topic)
      .map(({ value }) => JSON.parse(Buffer.from(value).toString()) as FullEvent)
    return [...new Map(all.map((event) => [event.Id, event])).values()]
  }

  names = (): string[] => this.events().map(({ Name }) => Name)

  /** Returns what the provider did for the payment. */
  ledger() {
    const {
      authorised = 0,
      captured = 0,
      cancelled = 0,
      refunded = 0,
    } = this.provider.ledger.payments.get(paymentId) ?? {}
    return { authorised, captured, cancelled, refunded }
  }
}
