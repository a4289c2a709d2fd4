import { fileURLToPath } from 'node:url'
import { deterministicId, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { LogRecord } from '@orderflow/kafka-log'
import { type Orders, order } from '@orderflow/order-service/order'
import { service as orderService } from '@orderflow/order-service/service'
import { type Payments, payment } from '@orderflow/payment-service/payment'
import { amountLimit } from '@orderflow/payment-service/policy'
import { service as paymentService } from '@orderflow/payment-service/service'
import {
  type BaseSettings,
  type Consumer,
  createConsumers,
  createDocuments,
  createLog,
  createParts,
  createPublish,
  createPublisher,
  currencyOf,
  type Entity,
  isInfrastructure,
  openEntity,
  type Reactions,
  readSettings,
  readTrust,
  type ServiceContext,
  type ServiceDefinition,
} from '@orderflow/service-kit'
import { createMetrics, rebuildTopic } from '@orderflow/service-kit/operations'
import { FakeLog, FakeSidecar } from '@orderflow/service-kit/testing'
import { type Documents, domainDocuments } from '@orderflow/test-kit'
import { Failures } from './failures.ts'

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
export const strictTrust = trustOf(fileURLToPath(new URL('../hostile/trust.json', import.meta.url)))
const codes = ({ refusals }: Pick<ServiceDefinition, 'refusals'>) => new Set(Object.keys(refusals))
const refusals = { order: codes(orderService), payment: codes(paymentService) }

export type Role = keyof typeof settings
const roles = ['order', 'payment'] as const
interface Entities {
  order: Orders
  payment: Payments
}

/** A process of a service. If it is killed, its calls never return. */
export interface Process<E> {
  entity: E
  consumers: Record<string, Consumer>
  sweep(): Promise<void>
  /** Resolves when the process is killed. */
  killed: Promise<undefined>
}

/** The current processes of a replica. A new process replaces a killed process. */
export type Replica = { [R in Role]: Process<Entities[R]> }

type EntityContext = Pick<ServiceContext, 'app' | 'documents' | 'publish' | 'log' | 'now' | 'newId'>
const opened: { [R in Role]: (context: EntityContext) => Entities[R] } = {
  order: (context) => openEntity(order(currencyOf('EUR'), 30 * 60_000), context),
  payment: (context) => openEntity(payment(amountLimit(10_000), currencyOf('EUR')), context),
}

/** Two replicas of both services with real consumers and domain, and a log and stores in memory that fail on demand. */
export class World {
  readonly log = new FakeLog()
  readonly failures = new Failures()
  readonly stores: Record<Role, FakeSidecar>
  readonly replicas: [Replica, Replica]
  readonly #trust: typeof trust
  #ids = 0
  #clock = Date.parse('2026-11-21T10:00:00Z')
  #elapsed = 0

  constructor(storeType = 'state.sqlite', trusted = trust) {
    this.#trust = trusted
    this.stores = { order: new FakeSidecar(storeType), payment: new FakeSidecar(storeType) }
    this.replicas = [this.#replica(), this.#replica()]
  }

  readonly subscriptions: [Role, string][] = [
    ['order', orderEvents],
    ['order', paymentEvents],
    ['payment', orderEvents],
  ]

  async deliver(role: Role, topic: string, records: LogRecord[], replica = this.replicas[0]): Promise<LogRecord[]> {
    const { consumers, killed } = replica[role]
    const consumer = consumers[topic]
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
    const statuses = await Promise.race([consumer.deliver([entries.slice(0, -1), entries.slice(-1)]), killed])
    return records.filter((_, index) => statuses?.[index]?.status === 'SUCCESS')
  }

  passTime(ms: number): void {
    this.#clock += ms
    this.#elapsed += ms
  }

  /** Runs a sweep of a process, as services do every second. */
  async sweep(role: Role, replica: Replica): Promise<void> {
    const { sweep, killed } = replica[role]
    await Promise.race([sweep(), killed]).catch((error: unknown) => {
      if (!isInfrastructure(error)) throw error
    })
  }

  /** Sweeps in all processes, until each has taken the registers of killed processes. */
  async sweepAll(): Promise<void> {
    for (let round = 0; round < 10; round += 1) {
      for (const replica of this.replicas) for (const role of roles) await this.sweep(role, replica)
      await this.failures.writeLate()
      this.passTime(5_000)
    }
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
    const { rebuild } = createParts(service, {
      settings,
      log: silent,
      publish,
      forward: publish,
      trust: this.#trust,
      documents,
      now,
      newId,
    })
    return rebuild
  }

  #now(): Date {
    this.#clock += 7
    return new Date(this.#clock)
  }

  #replica(): Replica {
    const replica = {} as Replica
    const start = <R extends Role>(role: R): void => {
      Object.assign(replica, { [role]: this.#process(role, opened[role], () => start(role)) })
    }
    for (const role of roles) start(role)
    return replica
  }

  /** Starts a process. @param onKilled starts the next one */
  #process<E extends Pick<Entity<unknown, unknown, object>, 'name' | 'reactions' | 'announceStored'>>(
    role: Role,
    open: (context: EntityContext) => E,
    onKilled: () => void,
  ): Process<E> {
    const [now, trust] = [() => this.#now(), this.#trust]
    const { Id: id, Name: name } = settings[role].App
    const killed = Promise.withResolvers<undefined>()
    const sidecar = this.failures.sidecar(this.stores[role], this.log, () => {
      killed.resolve(undefined)
      onKilled()
    })
    const documents = createDocuments(sidecar, now, true, {
      elapsed: () => this.#elapsed,
      report(error) {
        throw error
      },
    })
    const publishRecord = createPublisher(sidecar)
    const entity = open({
      app: { id, name },
      documents,
      publish: createPublish(publishRecord, trust, undefined),
      log: silent,
      now,
      newId: () => guid(`new ${++this.#ids}`),
    })
    const consumers = createConsumers(entity.reactions, {
      app: name,
      publish: publishRecord,
      trust,
      appendTimes: async () => new Map<string, number>(),
      refusals: refusals[role],
      log: silent,
      metrics,
      now,
    })
    documents('').announcing.onVisit(entity.name, entity.announceStored)
    return { entity, consumers, sweep: () => documents('').announcing.sweep(), killed: killed.promise }
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

/** Returns the documents that follow from the log. */
export const documentsIn = ({ documents }: FakeSidecar): Documents =>
  domainDocuments([...documents].map(([key, { value }]) => [key, JSON.stringify(value)]))

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
