import { setTimeout as delay } from 'node:timers/promises'
import { deterministicId, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { createLog, createPublisher, createReader, createUnitOfWork, SidecarError } from '@orderflow/service-kit'
import { rebuildTopic } from '@orderflow/service-kit/operations'
import {
  createCommands as createOrderCommands,
  type Commands as OrderCommands,
} from '../../order-service/src/commands.ts'
import { createReplay as createOrderReplay } from '../../order-service/src/replay.ts'
import { readSettings as readOrderSettings } from '../../order-service/src/settings.ts'
import { createStore as createOrderStore } from '../../order-service/src/store.ts'
import { createSubscriptions as subscribeOrders } from '../../order-service/src/subscriptions.ts'
import {
  createCommands as createPaymentCommands,
  type Commands as PaymentCommands,
} from '../../payment-service/src/commands.ts'
import { amountLimit } from '../../payment-service/src/domain/policy.ts'
import { createReplay as createPaymentReplay } from '../../payment-service/src/replay.ts'
import { readSettings as readPaymentSettings } from '../../payment-service/src/settings.ts'
import { createStore as createPaymentStore } from '../../payment-service/src/store.ts'
import { createSubscriptions as subscribePayments } from '../../payment-service/src/subscriptions.ts'
import type { LogRecord } from '../../service-kit/src/operations/log-record.ts'
import { createArrivalList } from '../../service-kit/src/state/arrival-list.ts'
import type { Consumer } from '../../service-kit/src/stream/consumer.ts'
import { FakeLog } from '../../service-kit/src/testing/fake-log.ts'
import { FakeSidecar } from '../../service-kit/src/testing/fake-sidecar.ts'
import { domainDocuments } from './documents.ts'

const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
const settings = { order: readOrderSettings(tokens), payment: readPaymentSettings(tokens) }
const silent = createLog('world', 'silent')

export type Role = keyof typeof settings
/** What may go wrong once: a call fails before it has an effect, or after, or when only the first half of its events is out. */
export type Failure = 'read' | 'transact' | 'publish' | 'transact-after' | 'publish-after' | 'publish-half'

/** A process of each service. */
export interface Replica {
  commands: { order: OrderCommands; payment: PaymentCommands }
  consumers: Record<Role, Record<string, Consumer>>
}

const down = () => new SidecarError('call', new Error('connection lost'))

/** Two replicas of both services with their real consumers, stores and domain, on a log and stores in memory that fail on demand. */
export class World {
  readonly log = new FakeLog()
  readonly stores: Record<Role, FakeSidecar> = { order: this.#sidecar(), payment: this.#sidecar() }
  readonly replicas: [Replica, Replica] = [this.#replica(), this.#replica()]
  #failure: Failure | undefined
  #ids = 0
  #transactions = 0
  #clock = Date.parse('2026-11-21T10:00:00Z')

  /** What there is to be delivered: each service's topics. */
  readonly subscriptions: [Role, string][] = [
    ['order', orderEvents],
    ['order', paymentEvents],
    ['payment', orderEvents],
  ]

  /** Delivers records in one batch, and answers those that were handled. */
  async deliver(role: Role, topic: string, records: LogRecord[], replica = this.replicas[0]): Promise<LogRecord[]> {
    const consume = replica.consumers[role][topic]
    if (!consume || records.length === 0) return []
    const statuses = await consume(
      records.map(({ partition, offset, value, key, headers }, index) => ({
        entryId: String(index),
        event: value.toString('base64'),
        metadata: {
          ...Object.fromEntries(headers.map(([name, text]) => [name.toString(), queryEscape(text)])),
          ...(key && { __key: queryEscape(key) }),
          __partition: String(partition),
          __offset: String(offset),
        },
      })),
    )
    return records.filter((_, index) => statuses[index]?.status === 'SUCCESS')
  }

  /** What is done meanwhile meets the failure, once. */
  async failing(failure: Failure | undefined, work: () => Promise<unknown>): Promise<void> {
    this.#failure = failure
    await work()
    this.#failure = undefined
  }

  /** Rebuilds a service's store from a log, as `make rebuild` does. */
  async rebuild(role: Role, log = this.log): Promise<FakeSidecar> {
    const sidecar = new FakeSidecar()
    const now = () => this.#now()
    const handlers =
      role === 'order'
        ? createOrderReplay({ settings: settings.order, sidecar, now })
        : createPaymentReplay({ settings: settings.payment, sidecar, now })
    for (const [topic, handler] of Object.entries(handlers)) {
      await rebuildTopic(topic, handler, {
        app: settings[role].App.Name,
        log,
        range: {},
        onProgress: () => {},
        onWait: () => {},
      })
    }
    return sidecar
  }

  #now(): Date {
    this.#clock += 7
    return new Date(this.#clock)
  }

  #replica(): Replica {
    const now = () => this.#now()
    const parts = (role: Role) => ({
      app: { id: settings[role].App.Id, name: settings[role].App.Name },
      publish: createPublisher(this.stores[role]),
      read: createReader(this.stores[role]),
      commit: createUnitOfWork(this.stores[role], createArrivalList(now)),
    })
    const [order, payment] = [parts('order'), parts('payment')]
    const orders = createOrderStore(order.app, order.read, order.commit)
    const payments = createPaymentStore(payment.read, payment.commit, amountLimit(10_000))
    const newId = () => guid(`new ${++this.#ids}`)
    return {
      commands: {
        order: createOrderCommands({ ...order, store: orders, log: silent, now, newId }),
        payment: createPaymentCommands({ ...payment, store: payments, now, newId }),
      },
      consumers: {
        order: subscribeOrders({ ...order, store: orders, log: silent, now }),
        payment: subscribePayments({ ...payment, store: payments, log: silent, now }),
      },
    }
  }

  /** A sidecar whose publishes go to the log. Each topic has three partitions; where a key goes is anybody's guess. */
  #sidecar(): FakeSidecar {
    const sidecar = new FakeSidecar()
    const read = sidecar.read.bind(sidecar)
    const publish = sidecar.publish.bind(sidecar)
    const transact = sidecar.transact.bind(sidecar)
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
      this.#fail('transact')
      this.#transactions += 1
      // Every third one is slow: what it was decided on may have changed when it is written.
      if (this.#transactions % 3 === 0) await delay(1)
      await transact(writes)
      this.#fail('transact-after')
    }
    return sidecar
  }

  #fail(failure: Failure): void {
    if (this.#meets(failure)) throw down()
  }

  /** Whether it is the failure's turn, which it has once. */
  #meets(failure: Failure): boolean {
    if (this.#failure !== failure) return false
    this.#failure = undefined
    return true
  }
}

/** What Go's url.QueryEscape makes of bytes. */
function queryEscape(bytes: Buffer): string {
  const escaped = (byte: number) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`
  const plain = (byte: number) => /[\w.~-]/.test(String.fromCharCode(byte))
  return [...bytes]
    .map((byte) => (byte === 0x20 ? '+' : plain(byte) ? String.fromCharCode(byte) : escaped(byte)))
    .join('')
}

/** The documents that a service's domain made. */
export function documentsIn({ documents }: FakeSidecar): Record<string, unknown> {
  return domainDocuments([...documents].map(([key, { value }]) => [key, JSON.stringify(value)]))
}

/** Every id in a store's list, newest first, as often as the list's documents name it as theirs. */
export function listedIds(sidecar: FakeSidecar): string[] {
  const places = new Map<string, string>()
  for (const [key, { value }] of sidecar.documents) {
    if (!key.startsWith('list/') || key === 'list/root') continue
    const { ids } = value as { ids: string[] }
    for (const [index, id] of ids.entries()) places.set(`${key.slice(5)}:${index}`, id)
  }
  const listed = [...sidecar.documents.values()].flatMap(({ value }) => (value as { listed?: string })?.listed ?? [])
  return listed.map((place) => places.get(place) ?? `nothing at ${place}`)
}

/** A GUID for a name, so that a failing run can be read. */
export const guid = (name: string): string => deterministicId('world', name)
