import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { currencyOf, deterministicId, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import {
  createCommands as createOrderCommands,
  type Commands as OrderCommands,
} from '@orderflow/order-service/commands'
import { createReactions as createOrderReactions } from '@orderflow/order-service/reactions'
import { service as orderService } from '@orderflow/order-service/service'
import { createStore as createOrderStore } from '@orderflow/order-service/store'
import {
  createCommands as createPaymentCommands,
  type Commands as PaymentCommands,
} from '@orderflow/payment-service/commands'
import { amountLimit } from '@orderflow/payment-service/policy'
import { createReactions as createPaymentReactions } from '@orderflow/payment-service/reactions'
import { service as paymentService } from '@orderflow/payment-service/service'
import { createStore as createPaymentStore } from '@orderflow/payment-service/store'
import {
  type BaseSettings,
  type Consumer,
  createConsumers,
  createDocuments,
  createLog,
  createParts,
  createPublish,
  createPublisher,
  type Reactions,
  readSettings,
  readTrust,
  type ServiceDefinition,
  SidecarError,
} from '@orderflow/service-kit'
import { createMetrics } from '@orderflow/service-kit/metrics'
import { type LogRecord, rebuildTopic } from '@orderflow/service-kit/operations'
import { FakeLog, FakeSidecar } from '@orderflow/service-kit/testing'
import { domainDocuments } from '@orderflow/test-kit'

const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
const settings = { order: readSettings(orderService, tokens), payment: readSettings(paymentService, tokens) }
/** Masks each line as in production, and drops it. */
const silent = createLog('world', 'info', { write() {} })
const metrics = createMetrics()
/** Both services have the same signing keys. */
const trustOf = (file: string) =>
  readTrust(orderService.root, { ...settings.order.Trust, SigningKeys: 'w'.repeat(32), File: file })
/** The default file accepts unlisted applications on orderevents. */
export const trust = trustOf(settings.order.Trust.File)
/** This file lists one application and rejects all unlisted applications. */
export const strictTrust = trustOf(fileURLToPath(new URL('hostile/trust.json', import.meta.url)))
const codes = ({ refusals }: Pick<ServiceDefinition, 'refusals'>) => new Set(Object.keys(refusals))
const refusals = { order: codes(orderService), payment: codes(paymentService) }

export type Role = keyof typeof settings
/** A failure that happens once: before a call takes effect, after the call has taken effect, or after half of its events. */
export type Failure = 'read' | 'write' | 'publish' | 'write-half' | 'write-after' | 'publish-after' | 'publish-half'

export interface Replica {
  commands: { order: OrderCommands; payment: PaymentCommands }
  consumers: Record<Role, Record<string, Consumer>>
}

const down = () => new SidecarError('call', new Error('connection lost'))

/** Two replicas of both services with real consumers and domain, and a log and stores in memory that fail on demand. */
export class World {
  readonly log = new FakeLog()
  readonly stores: Record<Role, FakeSidecar>
  readonly replicas: [Replica, Replica]
  readonly #trust: typeof trust
  #failure: Failure | undefined
  #ids = 0
  #writes = 0
  #clock = Date.parse('2026-11-21T10:00:00Z')

  constructor(storeType = 'state.sqlite', trusted = trust) {
    this.#trust = trusted
    this.stores = { order: this.#sidecar(storeType), payment: this.#sidecar(storeType) }
    this.replicas = [this.#replica(), this.#replica()]
  }

  readonly subscriptions: [Role, string][] = [
    ['order', orderEvents],
    ['order', paymentEvents],
    ['payment', orderEvents],
  ]

  async deliver(role: Role, topic: string, records: LogRecord[], replica = this.replicas[0]): Promise<LogRecord[]> {
    const consumer = replica.consumers[role][topic]
    if (!consumer || records.length === 0) return []
    const entries = records.map(({ partition, offset, timestamp, value, key, headers }, index) => ({
      entryId: String(index),
      value,
      metadata: {
        ...Object.fromEntries(headers.map(([name, text]) => [name.toString(), queryEscape(text)])),
        ...(key && { __key: queryEscape(key) }),
        __partition: String(partition),
        __offset: String(offset),
        __timestamp: String(timestamp),
      },
    }))
    // The last record is a part of its own, like the end of a large delivery.
    const statuses = await consumer.deliver([entries.slice(0, -1), entries.slice(-1)])
    return records.filter((_, index) => statuses[index]?.status === 'SUCCESS')
  }

  async failing(failure: Failure | undefined, work: () => Promise<unknown>): Promise<void> {
    this.#failure = failure
    await work()
    this.#failure = undefined
  }

  async rebuild(role: Role, log = this.log): Promise<FakeSidecar> {
    const sidecar = new FakeSidecar()
    const reactions =
      role === 'order'
        ? this.#rebuild(orderService, settings.order, sidecar)
        : this.#rebuild(paymentService, settings.payment, sidecar)
    for (const [topic, handlers] of Object.entries(reactions)) {
      await rebuildTopic(topic, handlers, {
        app: settings[role].App.Name,
        trust: this.#trust,
        refusals: refusals[role],
        log,
        range: {},
        onProgress: () => {},
        onWait: () => {},
      })
    }
    return sidecar
  }

  #rebuild<S extends object>(
    service: ServiceDefinition<S>,
    settings: BaseSettings & S,
    sidecar: FakeSidecar,
  ): Reactions<boolean> {
    const now = () => this.#now()
    const publish = async () => {
      throw new Error('a rebuild publishes nothing')
    }
    const documents = createDocuments(sidecar, now, true)
    const newId = () => guid('new')
    return createParts(service, {
      settings,
      log: silent,
      publish,
      forward: publish,
      trust: this.#trust,
      documents,
      now,
      newId,
    }).rebuild
  }

  #now(): Date {
    this.#clock += 7
    return new Date(this.#clock)
  }

  #replica(): Replica {
    const [now, trust] = [() => this.#now(), this.#trust]
    const newId = () => guid(`new ${++this.#ids}`)
    const parts = (role: Role) => {
      const publishRecord = createPublisher(this.stores[role])
      const publish = createPublish(publishRecord, trust, undefined)
      const { Id: id, Name: name } = settings[role].App
      const appendTimes = async () => new Map<string, number>()
      const options = {
        ...{
          app: name,
          publish: publishRecord,
          trust,
          appendTimes,
          refusals: refusals[role],
          log: silent,
          metrics,
          now,
        },
      }
      const consumers = (reactions: Reactions) => createConsumers(reactions, options)
      const documents = createDocuments(this.stores[role], now, true)
      return { context: { app: { id, name }, publish, log: silent, now, newId }, documents, consumers }
    }
    const [order, payment] = [parts('order'), parts('payment')]
    const orders = createOrderStore(order.documents)
    const payments = createPaymentStore(payment.documents)
    const policy = amountLimit(10_000)
    return {
      commands: {
        order: createOrderCommands(orders, order.context),
        payment: createPaymentCommands(payments, policy, payment.context),
      },
      consumers: {
        order: order.consumers(createOrderReactions(orders, currencyOf('EUR'))),
        payment: payment.consumers(createPaymentReactions(payments, policy, currencyOf('EUR'), payment.context)),
      },
    }
  }

  /** Creates a sidecar that publishes to the log. A record may go to any of three partitions, depending on its key. */
  #sidecar(storeType: string): FakeSidecar {
    const sidecar = new FakeSidecar(storeType)
    const read = sidecar.read.bind(sidecar)
    const publish = sidecar.publish.bind(sidecar)
    const { transact, save } = sidecar
    sidecar.publish = async (topic, events) => {
      this.#fail('publish')
      const isHalf = this.#meets('publish-half')
      const out = isHalf ? events.slice(0, events.length / 2) : events
      await publish(topic, out)
      for (const { key, value, headers } of out) {
        const partition = topic.endsWith('.dead') ? 0 : (key?.charCodeAt(0) ?? 0) % 3
        this.log.append({ topic, partition, key, value, headers })
      }
      if (isHalf) throw down()
      this.#fail('publish-after')
    }
    sidecar.read = async (keys) => {
      this.#fail('read')
      return read(keys)
    }
    sidecar.transact = async (writes) => {
      await this.#write()
      await transact.call(sidecar, writes)
      this.#fail('write-after')
    }
    sidecar.save = async (writes, etag, needed = 0) => {
      await this.#write()
      const isHalf = this.#meets('write-half')
      const half = writes.slice(0, Math.max(needed, writes.length / 2))
      await save.call(sidecar, isHalf ? half : writes, etag, needed)
      if (isHalf) throw down()
      this.#fail('write-after')
    }
    return sidecar
  }

  async #write(): Promise<void> {
    this.#fail('write')
    this.#writes += 1
    // Every third write is slow, so that the stored data may change before the write takes effect.
    if (this.#writes % 3 === 0) await delay(1)
  }

  #fail(failure: Failure): void {
    if (this.#meets(failure)) throw down()
  }

  /** Returns true once, when the failure is due. */
  #meets(failure: Failure): boolean {
    if (this.#failure !== failure) return false
    this.#failure = undefined
    return true
  }
}

/** Encodes bytes like Go’s url.QueryEscape. */
function queryEscape(bytes: Buffer): string {
  const escaped = (byte: number) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  const plain = (byte: number) => /[\w.~-]/.test(String.fromCharCode(byte))
  return [...bytes]
    .map((byte) => (byte === 0x20 ? '+' : plain(byte) ? String.fromCharCode(byte) : escaped(byte)))
    .join('')
}

export function documentsIn({ documents }: FakeSidecar): Record<string, unknown> {
  return domainDocuments([...documents].map(([key, { value }]) => [key, JSON.stringify(value)]))
}

/** Returns, for each document that names a slot, the id in this slot. */
export function listedIds(sidecar: FakeSidecar): string[] {
  const slots = new Map<string, string>()
  for (const key of sidecar.chunkKeys()) {
    const ids: string[] = Object(sidecar.documents.get(key)?.value).ids
    const [, shard, n] = key.split('/')
    for (const [index, id] of ids.entries()) slots.set(`${shard}:${n}:${index}`, id)
  }
  const listed = [...sidecar.documents.values()].flatMap(({ value }) => (value as { listed?: string })?.listed ?? [])
  return listed.map((slot) => slots.get(slot) ?? `nothing at ${slot}`)
}

/** Returns a GUID that depends only on the name, so that a failing run has the same GUIDs when it is repeated. */
export const guid = (name: string): string => deterministicId('world', name)
