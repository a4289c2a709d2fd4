import { deterministicId, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import {
  createLog,
  createPublisher,
  createReader,
  createUnitOfWork,
  isInfrastructure,
  Problem,
  SidecarError,
} from '@orderflow/service-kit'
import { replayTopic } from '@orderflow/service-kit/operations'
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
import { createArrivalList } from '../../service-kit/src/arrival-list.ts'
import type { Consumer } from '../../service-kit/src/consumer.ts'
import type { LogRecord } from '../../service-kit/src/operations/log-record.ts'
import { FakeLog } from '../../service-kit/test/fake-log.ts'
import { FakeSidecar } from '../../service-kit/test/fake-sidecar.ts'
import { domainDocuments } from './documents.ts'

const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
const settings = { order: readOrderSettings(tokens), payment: readPaymentSettings(tokens) }
const silent = createLog('world', 'silent')

export type Role = keyof typeof settings
/** What may go wrong once: a call fails before it has an effect, or after. */
export type Failure = 'read' | 'transact' | 'publish' | 'transact-after' | 'publish-after'

const down = () => new SidecarError('call', new Error('connection lost'))

/** Both services with their real consumers, stores and domain, on a log and stores in memory that fail on demand. */
export class World {
  readonly log = new FakeLog()
  readonly stores: Record<Role, FakeSidecar>
  readonly commands: { order: OrderCommands; payment: PaymentCommands }
  readonly #consumers: Record<Role, Record<string, Consumer>>
  #failure: Failure | undefined
  #ids = 0
  #clock = Date.parse('2026-11-21T10:00:00Z')

  constructor() {
    this.stores = { order: this.#sidecar(), payment: this.#sidecar() }
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
    this.commands = {
      order: createOrderCommands({ ...order, store: orders, log: silent, now, newId }),
      payment: createPaymentCommands({ ...payment, store: payments, now, newId }),
    }
    this.#consumers = {
      order: subscribeOrders({ ...order, store: orders, log: silent, now }),
      payment: subscribePayments({ ...payment, store: payments, log: silent, now }),
    }
  }

  /** What there is to be delivered: each service's topics. */
  readonly subscriptions: [Role, string][] = [
    ['order', orderEvents],
    ['order', paymentEvents],
    ['payment', orderEvents],
  ]

  /** Delivers records in one batch, and answers those that were handled. */
  async deliver(role: Role, topic: string, records: LogRecord[], failure?: Failure): Promise<LogRecord[]> {
    const consume = this.#consumers[role][topic]
    if (!consume || records.length === 0) return []
    this.#arm(this.stores[role], failure)
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
    this.#arm(this.stores[role], undefined)
    return records.filter((_, index) => statuses[index]?.status === 'SUCCESS')
  }

  /** Runs a request of a service's API; what it answers, or that it fails, is not of interest here. */
  async request(role: Role, request: () => Promise<unknown>, failure?: Failure): Promise<void> {
    this.#arm(this.stores[role], failure)
    await request().catch((error: unknown) => {
      if (!(error instanceof Problem) && !isInfrastructure(error)) throw error
    })
    this.#arm(this.stores[role], undefined)
  }

  /** Rebuilds a service's store from a log, as `make replay` does. */
  async rebuild(role: Role, log = this.log): Promise<FakeSidecar> {
    const sidecar = new FakeSidecar()
    const now = () => this.#now()
    const handlers =
      role === 'order'
        ? createOrderReplay({ settings: settings.order, sidecar, now })
        : createPaymentReplay({ settings: settings.payment, sidecar, now })
    for (const [topic, handler] of Object.entries(handlers)) {
      await replayTopic(topic, handler, {
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

  /** A sidecar whose publishes go to the log. Each topic has three partitions; where a key goes is anybody's guess. */
  #sidecar(): FakeSidecar {
    const sidecar = new FakeSidecar()
    const [publish, transact] = [sidecar.publish.bind(sidecar), sidecar.transact.bind(sidecar)]
    sidecar.publish = async (topic, events) => {
      await publish(topic, events)
      for (const { key, value, headers } of events) {
        const partition = topic.endsWith('.dead') ? 0 : (key?.charCodeAt(0) ?? 0) % 3
        this.log.append({ topic, partition, key, value, headers })
      }
      this.#failAfter('publish-after')
    }
    sidecar.transact = async (writes) => {
      await transact(writes)
      this.#failAfter('transact-after')
    }
    return sidecar
  }

  /** The next call of a kind fails; with undefined none does. */
  #arm(sidecar: FakeSidecar, failure: Failure | undefined): void {
    this.#failure = failure
    for (const queue of Object.values(sidecar.failures)) queue.length = 0
    if (failure === 'read' || failure === 'transact' || failure === 'publish') sidecar.failures[failure].push(down())
  }

  /** A call has had its effect, and says that it failed. */
  #failAfter(failure: Failure): void {
    if (this.#failure !== failure) return
    this.#failure = undefined
    throw down()
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
