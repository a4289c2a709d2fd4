import { randomUUID } from 'node:crypto'
import { deadLetterOf, minimalDeadLetter } from '../../../src/stream/dead-letter.ts'
import { type BulkEntry, readDelivery } from '../../../src/stream/delivery.ts'
import type { Place } from '../../../src/stream/place.ts'
import type { FakeLog } from '../../../src/testing/fake-log.ts'

export const event = {
  AppId: randomUUID(),
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'SECRET-TAX-ID', Total: 1 },
}
export const bytesOf = (document: unknown) => Buffer.from(JSON.stringify(document))

export interface Failed {
  topic?: string
  partition?: number
  value?: Buffer
  /** Whether the topic refused the letter with the event in it. */
  isCut?: boolean
  /** The header by which the record says where its event first stood. */
  resentFrom?: string
}

/** What a service writes when it cannot handle the record at an offset. Answers where the dead letter stands. */
export function fail(
  log: FakeLog,
  app: string,
  offset: number,
  reason = 'invalid-payload',
  { topic = 'orderevents', partition = 0, value = Buffer.from('{'), resentFrom, isCut = false }: Failed = {},
): Place {
  const metadata: BulkEntry['metadata'] = { __partition: String(partition), __offset: String(offset), __key: 'k' }
  if (resentFrom) metadata['replayed-from'] = encodeURIComponent(resentFrom)
  const delivery = readDelivery({ entryId: '', event: value.toString('base64'), metadata }, topic)
  const letterOf = isCut ? minimalDeadLetter : deadLetterOf
  return log.append(letterOf(delivery, { code: reason, detail: 'd' }, app, new Date()))
}

/** What stands on the dead-letter topic once an event was resent. */
export function note(log: FakeLog, of: string, as: string): void {
  log.append({ topic: 'orderevents.dead', headers: { 'replay-of': of, 'replayed-as': as } })
}
