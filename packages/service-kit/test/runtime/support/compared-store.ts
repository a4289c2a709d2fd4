import { randomUUID } from 'node:crypto'
import { deterministicId, type FullEvent } from '@orderflow/envelope'
import { type LogRecord, positionText, type RecordPosition } from '@orderflow/kafka-log'
import { type Handled, handledIn, readHandled } from '../../../src/runtime/lost-writes/handled-log.ts'
import { createLostWrites } from '../../../src/runtime/lost-writes/lost-writes.ts'
import { createDocuments, type DocumentsOf } from '../../../src/state/documents.ts'
import { markKey, type PositionMark } from '../../../src/state/position-mark.ts'
import { createRejections } from '../../../src/stream/dead-letters/rejections.ts'
import { acceptanceHeaders, deadLetterHeaders } from '../../../src/stream/log/record.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import type { Trust } from '../../../src/trust/trust.ts'
import { openTrust } from '../../support/open-trust.ts'

/** The topic that the service consumes, and the topic that it only writes. */
export const [topic, written] = ['orderevents', 'paymentevents']

export const envelope = (Name: string, Payload: object) =>
  JSON.stringify({
    ...{ AppId: randomUUID(), AppName: 'older-application', Version: 1, Name, Payload },
    CreationDate: '2026-11-21T10:00:00Z',
  })
export const idOf = (name: string) => deterministicId('thing', name)
export const created = (name: string) =>
  envelope('OrderCreated', { OrderId: idOf(name), CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 })
export const cancelled = (name: string) => envelope('OrderCancelled', { OrderId: idOf(name) })
export const approved = (name: string, Amount: number) =>
  envelope('PaymentApproved', {
    OrderId: idOf(name),
    PaymentId: idOf(name),
    Amount,
    Policy: 'p',
    Source: 'OrderCreated',
  })

/** An event that replaces the reason of an earlier one. */
export const rejectedFor = (name: string, Reason: string) =>
  envelope('PaymentRejected', {
    ...{ OrderId: idOf(name), PaymentId: idOf(name), Amount: 1, Policy: 'p', Source: 'OrderCreated' },
    Reason,
  })

interface Thing {
  id: string
  isCancelled: boolean
  color?: string
}

/** The reactions of a service. @param color a field that only newer code writes */
function reactionsOn(documents: DocumentsOf, color?: string) {
  const change = (event: FullEvent<'OrderCreated' | 'OrderCancelled'>, isCancelled: boolean) => {
    const key = `thing/${event.Payload.OrderId}`
    return documents('').change({
      key,
      bytes: 100,
      decide(view) {
        const thing = view.get<Thing>(key)
        const next = { id: key, isCancelled: isCancelled || thing?.isCancelled === true, ...(color && { color }) }
        if (JSON.stringify(thing) === JSON.stringify(next)) return false
        view.write(next)
        return true
      },
    })
  }
  const replace = ({ Payload: { OrderId, Reason } }: FullEvent<'PaymentRejected'>) => {
    const key = `reason/${OrderId}`
    return documents('').change({
      key,
      bytes: 100,
      decide(view) {
        if (view.get<{ reason: string }>(key)?.reason === Reason) return false
        view.write({ reason: Reason })
        return true
      },
    })
  }
  async function announced(event: FullEvent<'PaymentApproved'>): Promise<boolean> {
    const { OrderId, Amount } = event.Payload
    const write = (key: string) =>
      documents('').change({
        key,
        bytes: 100,
        decide(view) {
          const stored = view.get<{ amount: number }>(key)
          if (stored !== undefined && stored.amount <= Amount) return false
          view.write({ amount: Amount })
          return true
        },
      })
    // The service itself writes a claim only for some payments.
    await write(`claim/${OrderId}`)
    return await write(`payment/${OrderId}`)
  }
  return {
    [topic]: {
      OrderCreated: (event: FullEvent<'OrderCreated'>) => change(event, false),
      OrderCancelled: (event: FullEvent<'OrderCancelled'>) => change(event, true),
      PaymentRejected: replace,
    },
    [written]: { PaymentApproved: announced },
  }
}

const arrived = 1_795_000_000_000

/** A service's store and log, of which tests lose parts. */
export class ComparedStore {
  readonly sidecar: FakeSidecar
  log = new FakeLog()
  now = new Date('2026-11-21T10:00:00Z')
  /** The position of the consumer group. */
  committed = 0
  /** The first offset that the retention kept. */
  first = 0
  /** The values of events that the service rejects. */
  readonly rejected = new Set<string>()
  /** False to publish without keys. */
  hasKeys = true

  constructor(type: string) {
    this.sidecar = new FakeSidecar(type)
  }

  get mark(): PositionMark {
    return this.sidecar.documents.get(markKey)?.value as PositionMark
  }

  #recordsOf(name: string): LogRecord[] {
    return this.log.records.filter((record) => record.topic === name)
  }

  #extents(): Handled[] {
    const extents = [topic, written].map((name) => ({
      ...{ topic: name, partition: 0, start: BigInt(name === topic ? this.first : 0) },
      end: BigInt(this.#recordsOf(name).length),
    }))
    return handledIn(extents, [{ topic, partition: 0, offset: BigInt(this.committed) }], [topic])
  }

  async *#read({ topic, start, end }: Handled): AsyncGenerator<LogRecord[]> {
    yield this.#recordsOf(topic).filter(({ offset }) => offset >= start && offset < end)
  }

  /** Creates the comparison of a process. @param color a field that only newer code writes */
  replica({
    code = 'one',
    color,
    form,
    trust = openTrust,
  }: {
    code?: string
    color?: string
    form?: string
    trust?: Trust
  } = {}) {
    return createLostWrites({
      ...{ app: 'a-service', sidecar: this.sidecar, trust, code: () => code, now: () => this.now },
      form: () => form,
      documents: createDocuments(this.sidecar, () => new Date(0)),
      rebuildOn: (documents) => reactionsOn(documents, color),
      withLog: (work) =>
        work({
          extents: async () => this.#extents(),
          read: (part) => readHandled(part, this.#read(part)),
          rejections: async (name) => {
            const rejections = createRejections('a-service')
            this.#recordsOf(`${name}.dead`).forEach(rejections.add)
            return rejections
          },
        }),
    })
  }

  compare(of: Parameters<ComparedStore['replica']>[0] = {}): Promise<string | undefined> {
    return this.replica(of).compare()
  }

  /** Changes the store, as a service does that handles an event. */
  async save(value: string): Promise<void> {
    const { Name, Payload } = JSON.parse(value)
    const event = { Name, Payload } as FullEvent<'OrderCreated'> &
      FullEvent<'OrderCancelled'> &
      FullEvent<'PaymentRejected'>
    const handlers = reactionsOn(createDocuments(this.sidecar, () => new Date(0)))[topic]
    await handlers?.[Name as 'OrderCreated']?.(event)
  }

  publish(value: string, { to = topic, headers = {} }: { to?: string; headers?: Record<string, string> } = {}) {
    const key = this.hasKeys ? JSON.parse(value).Payload.OrderId : undefined
    return this.log.append({ topic: to, key, value, timestamp: arrived, headers })
  }

  /** Publishes and handles events, as the service does, and commits their position. */
  async handle(...values: string[]): Promise<void> {
    for (const value of values) {
      const { offset } = this.publish(value)
      if (this.rejected.has(value)) this.deadLetter(offset)
      else await this.save(value)
    }
    this.committed = this.#recordsOf(topic).length
  }

  /** Writes the dead letter of a record. @param isStored true if the store has the effects of the record */
  deadLetter(offset: number | string, isStored = false): void {
    const { app, reason, topic: name, partition, offset: at, stored } = deadLetterHeaders
    const headers = {
      [app]: 'a-service',
      [reason]: 'internal-error',
      [name]: topic,
      [partition]: '0',
      [at]: String(offset),
    }
    const all = isStored ? { ...headers, [stored]: 'true' } : headers
    this.log.append({ topic: `${topic}.dead`, timestamp: arrived, headers: all })
  }

  /** Writes the acceptance of a record that had a dead letter. */
  accept(offset: number): void {
    const position: RecordPosition = { topic, partition: 0, offset: String(offset) }
    const headers = { [acceptanceHeaders.app]: 'a-service', [acceptanceHeaders.position]: positionText(position) }
    this.log.append({ topic: `${topic}.dead`, timestamp: arrived, headers })
  }

  lose(name: string): void {
    this.sidecar.documents.delete(`thing/${idOf(name)}`)
  }

  copy() {
    return structuredClone([...this.sidecar.documents])
  }

  /** Puts an older copy back, as a standby does that was behind. */
  restore(documents: ReturnType<ComparedStore['copy']>): void {
    this.restoreOnSameServer(documents)
    this.sidecar.server = randomUUID()
  }

  /** Puts an older copy back without a change that the store reports. */
  restoreOnSameServer(documents: ReturnType<ComparedStore['copy']>): void {
    this.sidecar.documents.clear()
    for (const [key, document] of documents) this.sidecar.documents.set(key, document)
  }

  waitMinutes(minutes: number): void {
    this.waitSeconds(minutes * 60)
  }

  waitSeconds(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1_000)
  }
}
